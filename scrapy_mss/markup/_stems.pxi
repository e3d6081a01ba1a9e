"""New words without Python: Porter's stems, as `stemming.porter` has them, and their hashes."""

# --- Porter's stems -----------------------------------------------------------------------------

cdef struct Word:
    uint8_t* letters  # in lower case; a "Y" is a consonant
    int n
    int regions[3]  # where suffixes may begin: anywhere, behind one syllable, or behind two

cdef struct Suffix:
    Lower old, new

cdef enum:
    MAX_SUFFIXES = 24  # of one step

# The suffixes of each step, and what takes their place; of several the longest counts.
cdef list _STEPS = [[each.split(b">") for each in step.split()] for step in (
    b"sses>ss ies>i ss>ss s>",
    b"tional>tion enci>ence anci>ance abli>able entli>ent eli>e izer>ize ization>ize ational>ate"
    b" ation>ate ator>ate alism>al aliti>al alli>al fulness>ful ousli>ous ousness>ous iveness>ive"
    b" iviti>ive biliti>ble",
    b"alize>al icate>ic iciti>ic ical>ic ative> ful> ness>",
    b"al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ou> ism> ate> iti> ous> ive> ize>"
    b" sion>s tion>t",
)]
cdef Suffix _SUFFIXES[4][MAX_SUFFIXES]  # the rest of each step is empty

cdef bytes _old, _new
for _step, _pairs in enumerate(_STEPS):
    for _n, (_old, _new) in enumerate(_pairs):
        _SUFFIXES[_step][_n] = Suffix(Lower(_old, len(_old)), Lower(_new, len(_new)))


cdef inline bint _is_vowel(uint8_t letter) noexcept:
    return letter >= c"a" and 0x1104111 >> (letter - c"a") & 1


cdef bint _has_vowel(const Word* word, int n) noexcept:
    while n and not _is_vowel(word.letters[n - 1]):
        n -= 1
    return n > 0


cdef bint _ends(const Word* word, Lower end) noexcept:
    cdef Py_ssize_t i = end.size, before = word.n - end.size
    while i and before >= 0 and word.letters[before + i - 1] == end.first[i - 1]:
        i -= 1
    return i == 0


cdef void _replace(Word* word, int step, int region) noexcept:
    """Replace the longest suffix of a *step* that the word has, if it begins in the *region*."""
    cdef const Suffix* each = _SUFFIXES[step]
    cdef const Suffix* longest = each + MAX_SUFFIXES - 1
    while each.old.size:
        if each.old.size > longest.old.size and _ends(word, each.old):
            longest = each
        each += 1
    cdef int start = word.n - <int> longest.old.size, i
    # Of the last step what stays, the s or t before -ion, is no part of the suffix.
    if start + (longest.new.size if step == 3 else 0) >= word.regions[region]:
        for i in range(longest.new.size):
            word.letters[start + i] = longest.new.first[i]
        word.n = start + <int> longest.new.size


cdef int _behind_syllable(const Word* word, int at) noexcept:
    """After the first consonant behind a vowel from *at* on."""
    while at < word.n and not _is_vowel(word.letters[at]):
        at += 1
    while at < word.n and _is_vowel(word.letters[at]):
        at += 1
    return min(at + 1, word.n)


cdef bint _is_short(const Word* word, int n) noexcept:
    """Whether the first *n* letters end in a consonant, a vowel, and a consonant but w and x."""
    cdef const uint8_t* end = word.letters + n
    return n >= 3 and not _is_vowel(end[-3]) and _is_vowel(end[-2]) and not _is_vowel(end[-1]) and (
        end[-1] != c"w" and end[-1] != c"x" and end[-1] != c"Y"
    )


cdef void _replace_participle(Word* word) noexcept:
    """The step of -eed, -ed and -ing."""
    cdef bint is_past = _ends(word, Lower(b"ed", 2))
    cdef int n = word.n - (2 if is_past else 3)
    if _ends(word, Lower(b"eed", 3)):
        word.n -= word.n - 3 >= word.regions[1]
    elif (is_past or _ends(word, Lower(b"ing", 3))) and _has_vowel(word, n):
        word.n = n
        if _ends(word, Lower(b"at", 2)) or _ends(word, Lower(b"bl", 2)) or (
            _ends(word, Lower(b"iz", 2)) or n == word.regions[1] and _is_short(word, n)
        ):
            word.letters[n] = c"e"
            word.n = n + 1
        elif n > 1 and word.letters[n - 1] == word.letters[n - 2]:
            word.n -= memchr(b"bdfgmnprt", word.letters[n - 1], 9) != NULL


cdef int _stem(uint8_t* letters, int n) noexcept:
    """Reduce a word of *n* small letters to its stem, in its place; how many letters that has."""
    cdef Word word = Word(letters, n)
    cdef int i
    for i in range(n):
        if letters[i] == c"y" and (i == 0 or _is_vowel(letters[i - 1])):
            letters[i] = c"Y"
    word.regions[0] = 0
    word.regions[1] = _behind_syllable(&word, 0)
    word.regions[2] = _behind_syllable(&word, word.regions[1])
    _replace(&word, 0, 0)
    _replace_participle(&word)
    i = word.n - 1
    if i >= 0 and letters[i] | 0x20 == c"y" and _has_vowel(&word, i):
        letters[i] = c"i"
    _replace(&word, 1, 1)
    _replace(&word, 2, 1)
    _replace(&word, 3, 2)
    i = word.n - 1
    if _ends(&word, Lower(b"e", 1)) and (
        i >= word.regions[2] or i >= word.regions[1] and not _is_short(&word, i)
    ):
        word.n = i
    word.n -= _ends(&word, Lower(b"ll", 2)) and word.n - 1 >= word.regions[2]
    for i in range(word.n):
        if letters[i] == c"Y":
            letters[i] = c"y"
    return word.n


def porter(str word not None):
    """The stem of a *word* in small letters and digits of ASCII."""
    cdef bytearray letters = bytearray(word.encode("ascii"))
    return letters[:_stem(letters, <int> len(letters))].decode()


# --- blake2b ------------------------------------------------------------------------------------

cdef enum:
    BLOCK_SIZE = 128

cdef uint64_t _BEGINNING[8]  # of the state, before the size of the hash is mixed into it
_BEGINNING[:] = [
    0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu, 0xA54FF53A5F1D36F1u,
    0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu, 0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u,
]
# In which order each round takes the words of the message.
cdef bytes _ORDER = bytes([int(each, 16) for each in (
    "0123456789abcdefea489fd61c02b753b8c052fdae3671947931dcbe265a40f8905724afe1bc683d"
    "2c6a0b834d75fe19c51fed4a0763928bdb7ec13950f4862a6fe9b308c2d714a5a2847615fb9e3cd0"
    "0123456789abcdefea489fd61c02b753"
)])


cdef inline uint64_t _turned(uint64_t word, int by) noexcept:
    return word >> by | word << (64 - by)


cdef inline void _mix(
    uint64_t* a, uint64_t* b, uint64_t* c, uint64_t* d, uint64_t one, uint64_t other
) noexcept:
    a[0] += b[0] + one
    d[0] = _turned(d[0] ^ a[0], 32)
    c[0] += d[0]
    b[0] = _turned(b[0] ^ c[0], 24)
    a[0] += b[0] + other
    d[0] = _turned(d[0] ^ a[0], 16)
    c[0] += d[0]
    b[0] = _turned(b[0] ^ c[0], 63)


cdef uint64_t _hash(const uint8_t* text, Py_ssize_t size) noexcept:
    """The hash of eight bytes of a *text* of at most a block."""
    cdef uint64_t m[16], v[16]
    cdef const uint8_t* order = _ORDER
    cdef int i
    memset(m, 0, sizeof(m))
    memcpy(m, text, size)
    memcpy(v, _BEGINNING, sizeof(_BEGINNING))
    memcpy(v + 8, _BEGINNING, sizeof(_BEGINNING))
    v[0], v[12], v[14] = v[0] ^ 0x01010008, v[12] ^ size, ~v[14]
    for i in range(12):
        _mix(v, v + 4, v + 8, v + 12, m[order[0]], m[order[1]])
        _mix(v + 1, v + 5, v + 9, v + 13, m[order[2]], m[order[3]])
        _mix(v + 2, v + 6, v + 10, v + 14, m[order[4]], m[order[5]])
        _mix(v + 3, v + 7, v + 11, v + 15, m[order[6]], m[order[7]])
        _mix(v, v + 5, v + 10, v + 15, m[order[8]], m[order[9]])
        _mix(v + 1, v + 6, v + 11, v + 12, m[order[10]], m[order[11]])
        _mix(v + 2, v + 7, v + 8, v + 13, m[order[12]], m[order[13]])
        _mix(v + 3, v + 4, v + 9, v + 14, m[order[14]], m[order[15]])
        order += 16
    return v[0] ^ v[8] ^ _BEGINNING[0] ^ 0x01010008
