"""Transcripts and subtitles: read from any format, restored, written to any format.

One plain type, `Transcript`, stands between all formats. A format is an adapter that
reads a file into a `Transcript` and writes it back with new words in the old places:
everything that it does not understand stays as it was, to the byte. `formats` has the
list of them and tells them apart. From a `Transcript`, `cues` and `pages` write
subtitles and readable pages.

    file -> formats.read -> Transcript -> restored(transcript, restore)
         -> formats.rewrite (same format) or formats.render (another one) -> file

`restore` is any function from lists of words to the same words with marks. Nothing in
this package knows spaCy or a model.
"""
