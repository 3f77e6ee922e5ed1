"""Switches of the build: the open-source release had these two values."""

USE_OSS = True
import_gfile = True
