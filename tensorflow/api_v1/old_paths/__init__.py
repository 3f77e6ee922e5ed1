"""Where the modules and names of TensorFlow 1.15 are now: tables, no code.

MODULES   old module -> the module it is now (a string: the same object), or the modules whose names it holds (a tuple)
PREFIXES  old package -> the package whose submodules its submodules are, where MODULES does not name them one by one
GONE      old module or package -> the reason why nothing takes its place
NAMES     module -> old name -> where the object is now, "module:name" (or "module" for a module)

`import_aliases` serves the first three, `moved_names` the last; `old_arguments` reads core_arguments and keras_arguments.
An entry is one line; tables are sorted.
"""

from tensorflow.api_v1.old_paths import (
    api_names,
    core_modules,
    core_names,
    deeprec_names,
    gone,
    keras_modules,
    keras_names,
    taken_names,
)

MODULES = {**core_modules.MODULES, **keras_modules.MODULES, **deeprec_names.MODULES}
PREFIXES = keras_modules.PREFIXES
GONE = gone.GONE
NAMES = {}
for _table in (api_names.NAMES, core_names.NAMES, deeprec_names.NAMES, keras_names.NAMES, taken_names.NAMES):
    for _module, _names in _table.items():
        NAMES.setdefault(_module, {}).update(_names)
