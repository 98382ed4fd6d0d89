import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.tree import ROOT, Tree
from spacy_punct.errors import PunctError


def make_tree(heads: list[int]) -> Tree:
    n = len(heads)
    return Tree([f"w{i}" for i in range(n)], ["X"] * n, heads, ["dep"] * n)


@st.composite
def any_trees(draw, max_size: int = 12) -> Tree:
    """Trees of any shape: each word hangs from one earlier in a random order."""
    order = draw(st.permutations(range(draw(st.integers(1, max_size)))))
    heads = [ROOT] * len(order)
    for k, word in enumerate(order[1:], start=1):
        heads[word] = order[draw(st.integers(0, k - 1))]
    return make_tree(heads)


def descendants(tree: Tree, word: int) -> set[int]:
    return {word}.union(*(descendants(tree, kid) for kid in tree.children[word]))


def test_tree_spans_and_order():
    tree = make_tree([1, -1, 4, 4, 1])
    assert tree.root == 1
    assert tree.children == ((), (0, 4), (), (), (2, 3))
    assert tree.spans == ((0, 1), (0, 5), (2, 3), (3, 4), (2, 5))
    assert tree.is_projective
    assert tree.projective() == tree


@pytest.mark.parametrize(
    ("heads", "code"),
    [
        ([1, 0], "P013"),
        ([-1, 2, 3, 1], "P013"),
        ([-1, -1], "P012"),
        ([-1, 2], "P011"),
        ([-1, 1], "P011"),
        ([-2, 0], "P011"),
        ([], "P010"),
    ],
)
def test_tree_rejects_what_is_no_tree(heads, code):
    with pytest.raises(PunctError, match=rf"\[{code}\]"):
        make_tree(heads)


def test_tree_rejects_columns_of_different_lengths():
    with pytest.raises(PunctError, match=r"\[P010\]"):
        Tree(["a", "b"], ["X"], [-1, 0], ["root", "dep"])


def test_tree_non_projective_is_named_and_lifted():
    # 2 hangs from 0 across the root 1.
    tree = make_tree([1, -1, 0, 1])
    assert not tree.is_projective
    with pytest.raises(PunctError, match=r"\[P016\].*w0"):
        tree.check_projective()
    assert tree.projective().heads == (1, -1, 1, 1)


@given(any_trees())
def test_tree_lifting_gives_a_projective_tree_of_ancestors(tree):
    lifted = tree.projective()
    for word in range(len(tree)):
        inside = descendants(lifted, word)
        assert inside == set(range(min(inside), max(inside) + 1))
        assert lifted.spans[word] == (min(inside), max(inside) + 1)
        # A word is only ever moved up to an ancestor.
        ancestors, head = [], tree.heads[word]
        while head != ROOT:
            ancestors.append(head)
            head = tree.heads[head]
        assert lifted.heads[word] in [*ancestors, tree.heads[word]]
    assert lifted.relations == tree.relations
    assert lifted.root == tree.root


def test_tree_deep_chains_do_not_recurse():
    n = 5000
    tree = make_tree([*range(1, n), -1])
    assert tree.spans[n - 1] == (0, n)
    assert tree.is_projective
