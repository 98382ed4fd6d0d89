"""Plain data: treebanks, trees, slots, marks and edits."""
