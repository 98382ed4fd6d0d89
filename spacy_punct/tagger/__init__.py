"""The component `slot_tagger`: what each slot says by itself, without a tree."""
