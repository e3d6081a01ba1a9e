"""VIPS: Vision-based Page Segmentation (Cai, Yu, Wen and Ma, 2003), on pages as they are drawn.

A page is cut into visual blocks in rounds. In each, the tree of elements below a block is divided
by thirteen rules into smaller blocks (`rules`, `extraction`), each with a degree of coherence from
1 to 10; the gaps between these are found and weighed (`separators`); and the blocks are put
together again, where the gaps are lightest first (`construction`). Blocks that are less coherent
than is permitted are divided in the next round (`segmentation`). The result is a tree of blocks.

It is a reconstruction. The report (MSR-TR-2003-79) was not at hand; its rules are known as several
free implementations quote them, and as the papers describe them that compare themselves with it.
What these leave open is decided here, and said where it is: the sizes that rules call small, how
coherent a block is by its tag and size, the numbers that make a separator's weight, and which
rules hold for which tags where implementations differ.
"""
