"""A value of any Struct type, made from its annotations: for tests that must meet every type, also the rare ones."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from msgspec.inspect import (
    BoolType,
    DictType,
    EnumType,
    Field,
    IntType,
    NoneType,
    StrType,
    StructType,
    TupleType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)


class Sampler:
    """``cards``: what stands for every string; eight of them for a tuple of any length, as in a full trick."""

    def __init__(self, cards: tuple[str, ...]) -> None:
        self._cards = cycle(cards)

    def of(self, kind: type[Any]) -> Any:
        """A value of ``kind``."""
        return self._value(type_info(kind), "")

    def _value(self, info: Type, name: str) -> Any:
        match info:
            case BoolType():
                return True
            case IntType():
                return 1
            case StrType():
                return next(self._cards)
            case EnumType(cls=cls):
                return next(iter(cls))
            case TupleType(item_types=items):
                return tuple(self._value(item, name) for item in items)
            case VarTupleType(item_type=item):
                # By seat there are two of everything; cards are as many as a trick has.
                return tuple(self._value(item, name) for _ in range(8 if isinstance(item, StrType | UnionType) else 2))
            case DictType():
                return {}
            case NoneType():
                return None
            case UnionType(types=types):
                return self._value(next(each for each in types if not isinstance(each, NoneType)), name)
            case StructType(cls=cls, fields=fields):
                return cls(**{field.name: self._field(field) for field in fields})
            case _:
                raise NotImplementedError(f"{name}: {info}")

    def _field(self, field: Field) -> Any:
        return self._value(field.type, field.name)
