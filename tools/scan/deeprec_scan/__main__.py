import sys

from deeprec_scan.command import main

sys.exit(main())
