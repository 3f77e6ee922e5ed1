"""The texts of the wheel's dist-info folder."""

NAME = "tensorflow"

# What the wheel really imports. Upstream asks for two more: keras (version 3, which the 1.x API does not
# use) and libclang (which nothing imports).
REQUIREMENTS = (
    "absl-py>=1.0.0",
    "astunparse>=1.6.0",
    "flatbuffers>=25.9.23",
    "gast!=0.5.0,!=0.5.1,!=0.5.2,>=0.2.1",
    "google_pasta>=0.1.1",
    "grpcio<2.0,>=1.24.3",
    "h5py<3.15.0,>=3.11.0",
    "ml_dtypes<1.0.0,>=0.5.1",
    # Code written for TF 1.15 uses what NumPy 2 took away; there is no NumPy 1 for Python 3.13.
    'numpy<2,>=1.26.0; python_version < "3.13"',
    'numpy>=2.1.0; python_version >= "3.13"',
    "opt_einsum>=2.3.2",
    "packaging",
    "protobuf<8.0.0,>=6.31.1",
    "requests<3,>=2.21.0",
    # DeepRec scripts ask pkg_resources for the version; setuptools 82 took it out.
    "setuptools<82",
    "six>=1.12.0",
    "termcolor>=1.1.0",
    "typing_extensions>=3.6.6",
    "wrapt>=1.11.0",
)

# What some features need, by the name of the extra: pip install './tensorflow-….whl[parquet]'.
EXTRAS = {
    "kafka": ("confluent-kafka",),
    # Later ones ask for NumPy 2.
    "parquet": ('pyarrow<26; python_version < "3.13"', 'pyarrow; python_version >= "3.13"'),
}

# tensorboard was a part of 1.15's installation; it is the user's to add.
SUMMARY = (
    "TensorFlow 1.15's API, with DeepRec, HybridBackend and SparseOperationKit features, "
    "on the TensorFlow 2.21 runtime, for CPU."
)

CONSOLE_SCRIPTS = (
    "saved_model_cli = tensorflow.python.tools.saved_model_cli:main",
    "tf-deeprec-doctor = deeprec_doctor:main",
    "tf-deeprec-horovod = deeprec_horovod:main",
    "tf-deeprec-scan = deeprec_scan.command:main",
    "tf_upgrade_v2 = tensorflow.tools.compatibility.tf_upgrade_v2_main:main",
    "tflite_convert = tensorflow.lite.python.tflite_convert:main",
    "toco = tensorflow.lite.python.tflite_convert:main",
)


def metadata(version, description):
    """The METADATA file (core metadata 2.1)."""
    head = [
        "Metadata-Version: 2.1",
        f"Name: {NAME}",
        f"Version: {version}",
        f"Summary: {SUMMARY}",
        "License: Apache-2.0",
        "Classifier: Programming Language :: Python :: 3 :: Only",
        "Classifier: Programming Language :: Python :: Implementation :: CPython",
        "Classifier: Operating System :: POSIX :: Linux",
        "Requires-Python: >=3.10",
        "Description-Content-Type: text/markdown",
    ]
    head += [f"Requires-Dist: {requirement}" for requirement in REQUIREMENTS]
    for extra, requirements in sorted(EXTRAS.items()):
        head.append(f"Provides-Extra: {extra}")
        for requirement in requirements:
            name, _, marker = requirement.partition("; ")
            head.append(f'Requires-Dist: {name}; extra == "{extra}"' + (f" and {marker}" if marker else ""))
    return "\n".join(head) + "\n\n" + description


def wheel(tag):
    """The WHEEL file."""
    python, abi, platforms = tag.split("-")
    tags = "".join(f"Tag: {python}-{abi}-{p}\n" for p in platforms.split("."))
    return f"Wheel-Version: 1.0\nGenerator: deeprec-tf2\nRoot-Is-Purelib: false\n{tags}"


def entry_points():
    """The entry_points.txt file."""
    return "[console_scripts]\n" + "\n".join(CONSOLE_SCRIPTS) + "\n"


def bundled_metadata(name, version):
    """The METADATA of a distribution that this wheel carries as a part of itself.

    With it in place an installer knows that the distribution is there. Else `pip install tensorflow_hub`, which asks for
    tf_keras, would fetch a second tf_keras, and with it the released tensorflow over this one.
    """
    return (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        f"Summary: Part of the {NAME} wheel beside it; upgraded and removed with it.\nLicense: Apache-2.0\n"
    )
