"""Writes a zip archive out of members of other archives, without recompressing them.

zipfile can only add members by compressing them anew, which for the TensorFlow wheel takes half a minute. A
member's local header and data are position independent, so they are copied as bytes; only the central
directory, which holds positions, is written anew. Layouts: PKWARE APPNOTE 6.3, sections 4.3.7, 4.3.9, 4.3.12.
"""

import struct
import zipfile
import zlib

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_CENTRAL_HEADER = struct.Struct("<4s4B4H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold; fixed, so that builds repeat
_LIMIT = 0xFFFFFFFF  # past it the Zip64 form would be needed


class RawZipWriter:
    """A zip archive under construction; use as a context manager.

    Args:
      path: file to write.

    Raises:
      ValueError: a member name is used twice, or the archive would need the Zip64 form.
    """

    def __init__(self, path):
        self._file = open(path, "wb")
        self._central = []
        self._names = set()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, *unused):
        if exc_type is None:
            self._write_central_directory()
        self._file.close()

    def copy(self, archive, info):
        """Copies one member of an open zipfile.ZipFile as it is, compressed data and all."""
        source = archive.fp
        source.seek(info.header_offset)
        header = source.read(_LOCAL_HEADER.size)
        fields = _LOCAL_HEADER.unpack(header)
        if fields[0] != b"PK\x03\x04":
            raise ValueError(f"{archive.filename}: no local header for member {info.filename!r}")
        name_and_extra = source.read(fields[9] + fields[10])
        if fields[2] & 0x08:
            # Sizes and checksum follow the data in this form; put them into the header instead.
            fields = (
                fields[:2]
                + (fields[2] & ~0x08,)
                + fields[3:6]
                + (info.CRC, info.compress_size, info.file_size)
                + fields[9:]
            )
            header = _LOCAL_HEADER.pack(*fields)
        offset = self._begin(info.filename)
        self._file.write(header + name_and_extra)
        left = info.compress_size
        while left:
            block = source.read(min(left, 1 << 22))
            if not block:
                raise ValueError(f"{archive.filename}: cut short inside member {info.filename!r}")
            self._file.write(block)
            left -= len(block)
        self._remember(info, offset, fields[2])

    def add(self, name, data, mode=0o644, compress=True):
        """Adds a member from bytes with a fixed timestamp."""
        info = zipfile.ZipInfo(name, _TIMESTAMP)
        info.create_system = 3  # Unix: external_attr holds the mode
        info.external_attr = (0o100000 | mode) << 16
        payload = data
        if compress:
            deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
            payload = deflate.compress(data) + deflate.flush()
        info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        info.CRC, info.compress_size, info.file_size = zlib.crc32(data), len(payload), len(data)
        offset = self._begin(name)
        encoded, flags = _encode(name)
        self._file.write(
            _LOCAL_HEADER.pack(
                b"PK\x03\x04",
                20,
                flags,
                info.compress_type,
                *_dos_time(info),
                info.CRC,
                info.compress_size,
                info.file_size,
                len(encoded),
                0,
            )
        )
        self._file.write(encoded)
        self._file.write(payload)
        self._remember(info, offset, flags)

    def _begin(self, name):
        if name in self._names:
            raise ValueError(f"member {name!r} is there already")
        self._names.add(name)
        return self._file.tell()

    def _remember(self, info, offset, flags):
        if max(offset, info.file_size, info.compress_size) >= _LIMIT:
            raise ValueError(f"member {info.filename!r} needs Zip64, which this writer does not have")
        encoded, _ = _encode(info.filename)
        date, time = _dos_time(info)[::-1]
        self._central.append(
            _CENTRAL_HEADER.pack(
                b"PK\x01\x02",
                20,
                info.create_system,
                20,
                0,
                flags,
                info.compress_type,
                time,
                date,
                info.CRC,
                info.compress_size,
                info.file_size,
                len(encoded),
                0,
                0,
                0,
                info.internal_attr,
                info.external_attr,
                offset,
            )
            + encoded
        )

    def _write_central_directory(self):
        start = self._file.tell()
        self._file.write(b"".join(self._central))
        size = self._file.tell() - start
        if len(self._central) >= 0xFFFF or start + size >= _LIMIT:
            raise ValueError("the archive needs Zip64, which this writer does not have")
        self._file.write(_END.pack(b"PK\x05\x06", 0, 0, len(self._central), len(self._central), size, start, 0))


def _encode(name):
    try:
        return name.encode("ascii"), 0
    except UnicodeEncodeError:
        return name.encode("utf-8"), 0x800


def _dos_time(info):
    year, month, day, hour, minute, second = info.date_time
    return (hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day)
