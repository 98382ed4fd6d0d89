"""The long training of the English encoder: gte-small goes on learning from written
text and treebanks."""
