"""Formulas: arithmetic over named quantities, read by an evaluator that can do nothing else.

A formula may hold

- names, each of which stands for a quantity;
- plain numbers, which are exact;
- ``+ - * /`` and brackets;
- ``min(...)`` and ``max(...)``;
- ``between(a, b)``: one quantity that lies anywhere from a to b;
- and, outermost, ``range(a, b, ...)``, the span from the smallest to the largest of several
  quantities, or a comparison with ``<``, ``<=``, ``>``, ``>=``, which may be a chain.

Units, intervals and grades are those of ``quantity``.
Length, depth and alphabet are checked before Python's parser sees the text, and the parsed
tree before it is evaluated; nothing is ever handed to ``eval``.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import simpleeval

from .errors import InputError, shown
from .figures import Bound
from .quantity import Answer, Grade, Quantity, QuantityError, Trace, largest, smallest

LONGEST = 1000  # characters
DEEPEST = 30  # brackets inside brackets
LEVELS = 60  # of the parsed tree: a sum of sixty terms
MOST_DIGITS = 15  # of a number; what a float holds exactly

_ALPHABET = re.compile(r"[A-Za-z0-9_.,()+\-*/<>=\s]*", re.ASCII)
_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_COMPARE: dict[type, Callable[[Quantity, Quantity], Answer]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_ALLOWED = (
    ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.UnaryOp, ast.USub, ast.Compare,
    *_SIGNS, ast.Call, ast.Name, ast.Load, ast.Constant,
)  # fmt: skip

Names = Callable[[str], Quantity]


@dataclass(frozen=True)
class Span:
    """From the smallest to the largest of several quantities of one unit."""

    members: tuple[Quantity, ...]

    @property
    def low(self) -> Quantity:
        return smallest(*self.members)

    @property
    def high(self) -> Quantity:
        return largest(*self.members)


@dataclass(frozen=True)
class Comparison:
    """A comparison, or a chain of them, with what was compared."""

    answer: Answer
    operands: tuple[Quantity, ...]
    signs: tuple[str, ...]


Outcome = Quantity | Span | Comparison


@dataclass(frozen=True)
class Result:
    """What a formula comes to.

    ``rests`` says whether the outcome moves when the named quantities move: where it does
    not, it rests on the formula's own numbers, whatever names it mentions.
    """

    outcome: Outcome
    rests: bool

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return _quantities(self.outcome)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(id for part in self.quantities for id in part.trace.inputs))

    @property
    def grade(self) -> Grade:
        """The weakest grade underneath; at most ``stated`` where the result rests on no input."""
        weakest = min(part.grade for part in self.quantities)
        return weakest if self.rests else min(weakest, Grade.STATED)


def _quantities(outcome: Outcome) -> tuple[Quantity, ...]:
    if isinstance(outcome, Span):
        return outcome.members
    return outcome.operands if isinstance(outcome, Comparison) else (outcome,)


def evaluate(formula: str, names: Names) -> Result:
    """Evaluate ``formula``; ``names`` gives the quantity of a name or raises ``InputError``.

    Raises ``InputError`` for anything that is not such arithmetic, and for arithmetic that
    has no meaning: units that do not fit, a divisor that may be zero.
    """
    tree = _parse(formula)
    try:
        outcome = _outcome(_Evaluator(names).result(tree))
        return Result(outcome, _rests(outcome, tree, names))
    except QuantityError as error:
        raise InputError(
            f"{shown(formula)} has no meaning: {error}",
            mend="compare like with like, and divide by nothing that may be zero",
        ) from None
    except (simpleeval.InvalidExpression, OverflowError, TypeError, ValueError) as error:
        raise _refuse(formula, str(error)) from None


def _names(tree: ast.expr) -> Iterator[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and id(node) not in called:
            yield node.id


def _refuse(formula: str, why: str) -> InputError:
    return InputError(
        f"{shown(formula)} is not a formula: {why}",
        mend="use names, plain numbers, + - * /, brackets, min, max, between, and outermost range"
        " or a comparison",
    )


# -- reading ------------------------------------------------------------------------------


def _parse(formula: str) -> ast.expr:
    if len(formula) > LONGEST:
        raise _refuse(formula, f"it has more than {LONGEST} characters")
    if not _ALPHABET.fullmatch(formula):
        raise _refuse(formula, "a character in it has no place in arithmetic")
    if "**" in formula or "//" in formula:
        raise _refuse(formula, "powers and whole division are not allowed")
    if _depth(formula) > DEEPEST:
        raise _refuse(formula, f"brackets are nested more than {DEEPEST} deep")
    try:
        tree = ast.parse(" ".join(formula.split()), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise _refuse(formula, "it is not well formed") from None
    _check(tree, formula)
    return tree


def _depth(formula: str) -> int:
    deepest = depth = 0
    for char in formula:
        depth += (char == "(") - (char == ")")
        deepest = max(deepest, depth)
    return deepest


def _check(tree: ast.expr, formula: str) -> None:
    """Refuse every node that arithmetic does not need; iteratively, so that depth is safe."""
    level: list[ast.AST] = [tree]
    for _ in range(LEVELS):
        for node in level:
            _check_node(node, formula, outermost=node is tree)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise _refuse(formula, f"it has more than {LEVELS} levels")


def _check_node(node: ast.AST, formula: str, *, outermost: bool) -> None:
    if not isinstance(node, _ALLOWED):
        raise _refuse(formula, f"{type(node).__name__} is not arithmetic")
    if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
        raise _refuse(formula, f"{shown(node.value)} is not a plain number")
    if isinstance(node, ast.Compare) and not outermost:
        raise _refuse(formula, "a comparison stands outermost")
    if isinstance(node, ast.Call):
        called = getattr(node.func, "id", None)
        if called not in _FUNCTIONS or node.keywords:
            raise _refuse(formula, "only min, max, between and range can be called")
        if called == "range" and not outermost:
            raise _refuse(formula, "range stands outermost")


# -- evaluating ---------------------------------------------------------------------------


class _Evaluator(simpleeval.SimpleEval):
    """simpleeval cut down to the nodes that ``_check`` lets through, on quantities."""

    def __init__(self, names: Names) -> None:
        super().__init__(
            operators={
                ast.Add: operator.add,
                ast.Sub: operator.sub,
                ast.Mult: operator.mul,
                ast.Div: operator.truediv,
                ast.USub: operator.neg,
            },
            functions=_FUNCTIONS,
            names=lambda node: names(node.id),
        )
        kept = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Name)
        self.nodes = {kind: self.nodes[kind] for kind in kept}
        self.nodes[ast.Constant] = _constant
        self.nodes[ast.Compare] = self._compared

    def result(self, tree: ast.expr) -> object:
        return self._eval(tree)

    def _compared(self, node: ast.Compare) -> Comparison:
        operands = tuple(self._eval(part) for part in (node.left, *node.comparators))
        answers = [
            _COMPARE[type(sign)](left, right)
            for sign, left, right in zip(node.ops, operands, operands[1:], strict=False)
        ]
        unit = operands[0].unit
        same = tuple(operand.to_unit(unit) for operand in operands)
        return Comparison(_all(answers), same, tuple(_SIGNS[type(sign)] for sign in node.ops))


def _all(answers: list[Answer]) -> Answer:
    if Answer.NO in answers:
        return Answer.NO
    return Answer.UNDECIDED if Answer.UNDECIDED in answers else Answer.YES


def _constant(node: ast.Constant) -> Quantity:
    """A number exactly as it is written: 0.1 is one tenth, whatever a float makes of it."""
    text = repr(node.value)
    if sum(char.isdigit() for char in text) > MOST_DIGITS or "e" in text or "inf" in text:
        raise QuantityError(f"the number {shown(text, 20)} has too many digits")
    return Quantity.point(Fraction(text))


def _between(*parts: Quantity) -> Quantity:
    """The hull of ``parts``: one quantity that may lie anywhere between them."""
    low, high = smallest(*parts), largest(*parts)
    formula = low.trace.formula.replace("min(", "between(", 1)
    return replace(low, high=high.high, trace=replace(low.trace, formula=formula))


def _span(*parts: Quantity) -> Span:
    if not parts:
        raise QuantityError("range of nothing")
    smallest(*parts)  # refuses units that do not fit
    return Span(parts)


_FUNCTIONS = {"min": smallest, "max": largest, "between": _between, "range": _span}


def _outcome(value: object) -> Outcome:
    if not isinstance(value, (Quantity, Span, Comparison)):
        raise TypeError("it comes to no quantity")
    return value


def _rests(outcome: Outcome, tree: ast.expr, names: Names) -> bool:
    """Whether the outcome moves when every named quantity is stretched by a factor of its own.

    ``a / a * 4.9`` and ``0 * a + 9`` mention a measurement and rest on none.
    """
    named = list(_names(tree))
    order = {name: i for i, name in enumerate(dict.fromkeys(named))}
    if not order:
        return False
    if len(order) == len(named) and not any(map(_may_hold_still, ast.walk(tree))):
        return True

    def stretched(name: str) -> Quantity:
        quantity, factor = names(name), Fraction(97 + 7 * order[name], 89)
        low, high = quantity.low * factor, quantity.high * factor
        return replace(quantity, low=low, high=high, trace=Trace(""))

    try:
        moved = _outcome(_Evaluator(stretched).result(tree))
    except QuantityError:
        return True  # stretching brought a zero into a divisor: it moved
    pairs = zip(_quantities(outcome), _quantities(moved), strict=True)
    return any(_middle(a) != _middle(b) for a, b in pairs)


def _middle(quantity: Quantity) -> Bound:
    """Twice the middle; where a side is open, the other end."""
    ends = [end for end in (quantity.low, quantity.high) if not math.isinf(end)]
    return sum(ends) if ends else math.inf


def _may_hold_still(node: ast.AST) -> bool:
    """Whether a node can keep names that occur once each from moving the outcome.

    A function can, and so can a factor of zero, written out or made of numbers alone.
    """
    if isinstance(node, ast.Call):
        return node.func.id != "range"
    if isinstance(node, ast.BinOp):
        return isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)
    return isinstance(node, ast.Constant) and node.value == 0
