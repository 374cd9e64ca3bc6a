"""Units of the numbers: the published tables print MiB and call them MB."""

MIB = 1 << 20
GIB = 1 << 30
MICROS = 1_000_000
