"""The best tree of arc scores: of all trees, and of those without crossing arcs.

Scores are arrays [n, 1 + n]: the score of each word's arc from each head. Head 0 is the
root, head i + 1 the i-th word. A tree has one word under the root.
"""

import numpy as np

NEVER = -1e9
"""The score of an arc that must not be."""


def best_tree(scores: np.ndarray) -> list[int]:
    """The tree of the highest score (Chu & Liu 1965, Edmonds 1967).

    scores (np.ndarray): The score of each arc, [n, 1 + n].
    RETURNS (list[int]): The head of each word, as in the scores.
    """
    n = len(scores)
    square = np.full((n + 1, n + 1), NEVER)
    square[1:] = scores
    np.fill_diagonal(square, NEVER)
    heads = _arborescence(square)
    if (heads[1:] == 0).sum() > 1:
        heads = max(
            (_arborescence(_only_root(square, root)) for root in range(1, n + 1)),
            key=lambda found: float(square[np.arange(1, n + 1), found[1:]].sum()),
        )
    return [int(head) for head in heads[1:]]


def _only_root(scores: np.ndarray, root: int) -> np.ndarray:
    """Scores with one arc from the root."""
    only = scores.copy()
    only[:, 0] = NEVER
    only[root, 0] = scores[root, 0]
    return only


def _arborescence(scores: np.ndarray) -> np.ndarray:
    """The best heads of nodes 1.., each reached from node 0.

    scores (np.ndarray): [n, n], the score of each node's arc from each other.
    RETURNS (np.ndarray): The head of each node; that of node 0 means nothing.
    """
    heads = scores.argmax(axis=1)
    heads[0] = 0
    cycle = _cycle(heads)
    if cycle is None:
        return heads
    # The cycle becomes one node, which is entered by the arc that costs least.
    inside = np.zeros(len(scores), dtype=bool)
    inside[cycle] = True
    outer = np.flatnonzero(~inside)
    enter = scores[np.ix_(cycle, outer)] - scores[cycle, heads[cycle]][:, None]
    leave = scores[np.ix_(outer, cycle)]
    last = len(outer)
    small = np.full((last + 1, last + 1), NEVER)
    small[:last, :last] = scores[np.ix_(outer, outer)]
    small[last, :last] = enter.max(axis=0)
    small[:last, last] = leave.max(axis=1)
    small[0] = NEVER
    found = _arborescence(small)
    for place in range(1, last):
        node, head = outer[place], found[place]
        heads[node] = outer[head] if head < last else cycle[leave[place].argmax()]
    head = found[last]
    heads[cycle[enter[:, head].argmax()]] = outer[head]
    return heads


def _cycle(heads: np.ndarray) -> np.ndarray | None:
    """The nodes of a cycle, if there is one."""
    seen = np.zeros(len(heads), dtype=int)
    for start in range(1, len(heads)):
        node = start
        while node and not seen[node]:
            seen[node] = start
            node = int(heads[node])
        if node and seen[node] == start:
            cycle = [node]
            while (head := int(heads[cycle[-1]])) != node:
                cycle.append(head)
            return np.array(cycle)
    return None


def best_projective_tree(scores: np.ndarray) -> list[int]:
    """The tree of the highest score without crossing arcs (Eisner 1996).

    Spans of one width are combined at once, so that the n³ steps are numpy's.

    scores (np.ndarray): The score of each arc, [n, 1 + n].
    RETURNS (list[int]): The head of each word, as in the scores.
    """
    n = len(scores)
    if n == 1:
        return [0]
    arcs = scores[:, 1:]  # [dependent, head]
    # [from, to]: the best of words from..to, headed by the first or the last of them,
    # where the arc between both is there (open) or no word outside is missing (closed).
    shape = (n, n)
    open_left, open_right = np.full(shape, NEVER), np.full(shape, NEVER)
    closed_left, closed_right = np.full(shape, NEVER), np.full(shape, NEVER)
    cuts = {name: np.zeros(shape, dtype=int) for name in ("open", "left", "right")}
    np.fill_diagonal(closed_left, 0.0)
    np.fill_diagonal(closed_right, 0.0)
    for width in range(1, n):
        start = np.arange(n - width)
        end = start + width
        inner = np.arange(width)
        middle = start[:, None] + inner
        both = closed_right[start[:, None], middle]
        both = both + closed_left[middle + 1, end[:, None]]
        cut = both.argmax(axis=1)
        best = both[np.arange(len(start)), cut]
        cuts["open"][start, end] = start + cut
        open_left[start, end] = best + arcs[start, end]
        open_right[start, end] = best + arcs[end, start]
        left = closed_left[start[:, None], middle]
        left = left + open_left[middle, end[:, None]]
        cut = left.argmax(axis=1)
        cuts["left"][start, end] = start + cut
        closed_left[start, end] = left[np.arange(len(start)), cut]
        right = open_right[start[:, None], middle + 1]
        right = right + closed_right[middle + 1, end[:, None]]
        cut = right.argmax(axis=1)
        cuts["right"][start, end] = start + 1 + cut
        closed_right[start, end] = right[np.arange(len(start)), cut]
    root = int((closed_left[0] + closed_right[:, -1] + scores[:, 0]).argmax())
    heads = [0] * n
    waiting = [("left", 0, root), ("right", root, n - 1)]
    while waiting:
        kind, start_, end_ = waiting.pop()
        if start_ == end_:
            continue
        if kind.startswith("open"):
            if kind == "open left":
                heads[start_] = end_ + 1
            else:
                heads[end_] = start_ + 1
            cut_ = int(cuts["open"][start_, end_])
            waiting += [("right", start_, cut_), ("left", cut_ + 1, end_)]
        else:
            cut_ = int(cuts[kind][start_, end_])
            if kind == "left":
                waiting += [("left", start_, cut_), ("open left", cut_, end_)]
            else:
                waiting += [("open right", start_, cut_), ("right", cut_, end_)]
    return heads


def is_projective_tree(heads: list[int]) -> bool:
    """Whether heads (0 is the root) are a tree with one root and no crossing arcs."""
    n = len(heads)
    if heads.count(0) != 1:
        return False
    children: list[list[int]] = [[] for _ in range(n + 1)]
    for i, head in enumerate(heads, start=1):
        children[head].append(i)
    order = list(children[0])
    for i in order:
        order += children[i]
    if len(order) < n:
        return False
    left, right, size = list(range(n + 1)), list(range(n + 1)), [1] * (n + 1)
    for i in reversed(order):
        if right[i] - left[i] + 1 != size[i]:
            return False
        head = heads[i - 1]
        if head:
            left[head], right[head] = (
                min(left[head], left[i]),
                max(right[head], right[i]),
            )
            size[head] += size[i]
    return True
