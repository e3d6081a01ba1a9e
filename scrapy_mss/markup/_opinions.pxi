"""Which blocks of a page other ideas take for its text. The Python of `opinions` is the oracle."""

cdef enum:  # roles of class words and of tags, as `opinions` has them
    SUBJECT, BODY, LIKELY, BESIDE, N_ROLES
    IS_NEVER = 1
    IS_BESIDE = 2
    IS_NAMELESS = 4
    IS_ITEM = 8
    IS_PARAGRAPH = 16

cdef enum:  # the numbers that `opinions._NUMBERS` has, in that order
    PARAGRAPH_LETTERS, LONG_LINE, MAX_LINKED, MAIN_SHARE, MIN_LINKED, FEW, STOP_WORD_PRICE
    MIN_STOP_SHARE, TAG_PRICE_IN_ELEMENT, MIN_TEXT, LETTERS_PER_POINT, MAX_LENGTH_POINTS
    NAME_POINTS, MIN_SCORE, SIBLING_SHARE, OUTWARD_GAIN, SECOND_BODY, HEADLINE_SHARE
    TAG_PRICE_IN_RUN, ARTICLE_TAG, MAIN_TAG, N_CONSTANTS

cdef enum:  # values of blocks and of elements: sums, then others of blocks, and others of elements
    OF_LETTERS, OF_LINKED, OF_PROSE, OF_DENSITY, OF_STOPS, POINTS, PROSE, OF_RUN, N_VALUES
    N_SUMS = POINTS
    OF_SCORE = POINTS
    OF_LEVEL = PROSE
    BELOW = OF_RUN


@cython.final
cdef class _Opinions:
    """A page as `opinions.Reading` has it."""

    cdef InputFiller by
    cdef _Blocks blocks
    cdef _Elements of
    cdef const double[::1] c, words, letters, link_share
    cdef double[:, ::1] rows
    cdef uint8_t[:, ::1] count, kept  # the words of each role in each element; by each opinion
    cdef uint8_t[::1] beside, chosen, inside_beside, is_text
    cdef double[:, ::1] value, inside  # of blocks, and of elements

    def __init__(self, _Blocks blocks not None):
        self.blocks, self.of, self.by, self.c = blocks, blocks.of, blocks.by, blocks.by.constants
        self.words, self.letters, self.rows = blocks.words, blocks.letters, blocks.rows
        self.link_share = self.rows[LINK_SHARE]
        cdef Py_ssize_t n = self.of.n, m = self.of.m
        self.count = numpy.zeros((N_ROLES + 2, m), "u1")
        self.kept = numpy.zeros((N_OPINIONS + 2, n), "u1")
        self.beside, self.chosen = self.count[N_ROLES], self.count[N_ROLES + 1]
        self.inside_beside, self.is_text = self.kept[N_OPINIONS], self.kept[N_OPINIONS + 1]
        self.value, self.inside = numpy.zeros((N_VALUES, n)), numpy.zeros((N_VALUES, m + 1))

    cdef fill(self, attributes, const uint8_t[::1] hidden):
        """Fill in what each opinion keeps, and how far they agree."""
        if self.of.m:
            self.count_roles(attributes.word, attributes.element)
            self.measure(hidden)
            self.sum_up()
            self.vote(self.kept[0])
            self.find_body(self.kept[1])
            self.follow_headline(self.kept[2])
            self.find_run(self.kept[3])
            self.keep(self.greatest(self.inside[OF_DENSITY]), self.kept[4])
            self.keep(self.greatest(self.inside[OF_STOPS]), self.kept[5])
        self.compare()

    cdef compare(self):
        """Fill in what each keeps, the mean, the shares of the page, and the F1 of each two.

        What is silent has the mean of the others.
        """
        cdef Py_ssize_t n = self.of.n, i, one, other, row, n_speaking = 0
        cdef double common[N_OPINIONS][N_OPINIONS]
        cdef double total = 0, votes
        cdef double[:, ::1] rows = self.rows
        memset(common, 0, sizeof(common))
        for i in range(n):
            total += self.words[i]
            for one in range(N_OPINIONS):
                for other in range(one, N_OPINIONS if self.kept[one, i] else 0):
                    common[one][other] += self.words[i] * self.kept[other, i]
        for one in range(N_OPINIONS):
            n_speaking += common[one][one] > 0
            rows[COMMON + 1 + one] = common[one][one] / max(total, 1.0)
        for i in range(n):
            votes = rows[COMMON, i] = 0
            for one in range(N_OPINIONS):
                votes += self.kept[one, i]
            for one in range(N_OPINIONS):
                rows[OPINION + one, i] = self.kept[one, i]
                if not common[one][one]:
                    rows[OPINION + one, i] = votes / max(n_speaking, 1)
                rows[COMMON, i] += rows[OPINION + one, i]
            rows[COMMON, i] /= N_OPINIONS
        f1, silent, row = [], [], COMMON + 1 + N_OPINIONS
        for one in range(N_OPINIONS):
            for other in range(one + 1, N_OPINIONS):
                if common[one][one] and common[other][other]:
                    votes = common[one][one] + common[other][other]
                    f1.append(2 * common[one][other] / votes)
                    rows[row] = 2 * common[one][other] / votes
                else:
                    silent.append(row)
                row += 1
        votes = numpy.add.reduce(f1) / len(f1) if f1 and silent else 0.0
        for row in silent:
            rows[row] = votes

    cdef count_roles(self, const uint32_t[::1] word, const Py_ssize_t[::1] element):
        cdef Py_ssize_t i, at
        cdef int role
        _check_sizes(word.shape[0], (element.shape[0],))
        for i in range(word.shape[0]):
            at = word[i] & 0xFFFF
            if self.by.word_roles[at] and self.by.hashes[at] == word[i]:
                _check(element[i], self.of.m)
                for role in range(N_ROLES):
                    self.count[role, element[i]] += self.by.word_roles[at] >> role & 1

    cdef measure(self, const uint8_t[::1] hidden):
        """Find the paragraphs, what is beside the text, and which blocks are text."""
        cdef Py_ssize_t n = self.of.n, m = self.of.m, i
        cdef double total = 0, left = 0, share
        cdef bint is_long, is_line, named, by_name = True
        cdef uint8_t role
        cdef const double[::1] letters = self.letters
        cdef double[:, ::1] value = self.value
        _check_sizes(m, (hidden.shape[0],))
        for i in range(m):
            self.beside[i] = self.by.roles[self.of.tag[i]] & IS_NEVER
        self.of.mark_inside(self.beside, self.inside_beside)
        for i in range(n):
            is_long, share = letters[i] >= self.c[PARAGRAPH_LETTERS], self.link_share[i]
            if is_long and share < self.c[MAX_LINKED] and not self.inside_beside[i]:
                value[PROSE, i] = letters[i]
                total += letters[i]
            value[OF_LETTERS, i], value[OF_LINKED, i] = letters[i], letters[i] * share
            share = min(letters[i] / self.c[LETTERS_PER_POINT], self.c[MAX_LENGTH_POINTS])
            value[POINTS, i] = (1.0 + self.blocks.count[IS_COMMA, i] + share) if is_long else 0.0
        self.of.add_inside(value[PROSE], self.inside[OF_PROSE])
        while True:  # by tags and names; then by tags alone, if that leaves next to nothing
            for i in range(m):
                role = self.by.roles[self.of.tag[i]]
                named = self.count[BESIDE, i] > 0 and role & IS_NAMELESS == 0
                named = by_name and (named or hidden[i] > 0)
                self.beside[i] = role & IS_NEVER > 0 or (
                    self.inside[OF_PROSE, i] < self.c[MAIN_SHARE] * total
                    and (named or role & IS_BESIDE > 0)
                )
            self.of.mark_inside(self.beside, self.inside_beside)
            for i in range(n):
                left += 0.0 if self.inside_beside[i] else value[PROSE, i]
            if not by_name or left >= self.c[FEW] * total:
                break
            by_name = False
        for i in range(n):
            role, is_long = self.role_around(i), letters[i] >= self.c[PARAGRAPH_LETTERS]
            is_line = role & IS_ITEM or (is_long and self.rows[ENDS_SENTENCE, i] > 0)
            is_line = is_line or letters[i] >= self.c[LONG_LINE]
            self.is_text[i] = is_line and not self.inside_beside[i] and self.is_unlinked(i)

    cdef uint8_t role_around(self, Py_ssize_t block) noexcept:
        return self.by.roles[self.of.tag_around(0, block)]

    cdef bint is_unlinked(self, Py_ssize_t block) noexcept:
        return self.link_share[block] < self.c[MIN_LINKED]

    cdef double density(self, Py_ssize_t block, double tag_price) noexcept:
        """The words of a block, linked ones against it, less its tags' price."""
        cdef double unlinked = 1.0 - 2.0 * self.link_share[block]
        return self.words[block] * unlinked - tag_price * self.blocks.tags[block]

    cdef sum_up(self):
        """Sum what blocks have inside each element."""
        cdef Py_ssize_t n = self.of.n, i, row
        cdef double n_stops = 0, n_words = 0, share, unlinked
        cdef const double[::1] stops = self.blocks.count[TEXT_STOPS]
        cdef double[:, ::1] value = self.value
        for i in range(n):
            if value[PROSE, i] > 0:
                n_stops += stops[i]
                n_words += self.words[i]
        share = max(n_stops / max(n_words, 1.0), self.c[MIN_STOP_SHARE])
        for i in range(n):
            unlinked = 1.0 - 2.0 * self.link_share[i]
            value[OF_DENSITY, i] = self.density(i, self.c[TAG_PRICE_IN_ELEMENT])
            value[OF_STOPS, i] = stops[i] / share * unlinked
            value[OF_STOPS, i] -= self.c[STOP_WORD_PRICE] * self.words[i]
            value[OF_PROSE, i] = value[PROSE, i]
            if self.inside_beside[i]:
                value[OF_PROSE, i] = 0.0
                value[OF_DENSITY, i] = min(value[OF_DENSITY, i], 0.0)
                value[OF_STOPS, i] = min(value[OF_STOPS, i], 0.0)
        for row in range(N_SUMS):
            self.of.add_inside(value[row], self.inside[row])

    cdef keep(self, Py_ssize_t element, uint8_t[::1] kept):
        """Keep the text of an *element*."""
        cdef Py_ssize_t i
        for i in range(self.of.begin[element], self.of.end[element]):
            kept[i] = self.is_text[i]

    cdef Py_ssize_t greatest(self, const double[::1] sums) noexcept:
        """The first element with the greatest of *sums*."""
        cdef Py_ssize_t i, best = 0
        for i in range(self.of.m):
            best = i if sums[i] > sums[best] else best
        return best

    cdef vote(self, uint8_t[::1] kept):
        cdef Py_ssize_t n = self.of.n, m = self.of.m, i, at, level, best, parent
        cdef double[::1] score = self.inside[OF_SCORE], of_level = self.inside[OF_LEVEL]
        cdef const double[::1] density = self.inside[OF_DENSITY]
        cdef uint8_t[::1] chosen = self.chosen
        cdef double points, enough
        cdef int choice = 2  # what votes: what is unlinked and not beside; what is unlinked; all
        for i in range(n):
            if self.value[POINTS, i] != 0 and self.is_unlinked(i):
                choice = min(choice, 1 if self.inside_beside[i] else 0)
        for level in range(self.by.weights.shape[0]):
            of_level[:] = 0.0
            for i in range(n):
                if choice < 2 and not self.is_unlinked(i) or not choice and self.inside_beside[i]:
                    continue
                at = self.of.around[self.role_around(i) & IS_PARAGRAPH != 0, i]
                for _ in range(level):
                    at = self.of.parent[at]
                of_level[at] += self.value[POINTS, i] * self.by.weights[level]
            for i in range(m):
                score[i] += of_level[i]
        for i in range(m):
            if score[i] > 0:
                points = self.by.points[self.of.tag[i]]
                points += self.c[NAME_POINTS] if self.count[LIKELY, i] else 0.0
                points -= self.c[NAME_POINTS] if self.count[BESIDE, i] else 0.0
                score[i] = (score[i] + points) * (
                    1.0 - self.inside[OF_LINKED, i] / max(self.inside[OF_LETTERS, i], 1.0)
                )
            else:
                score[i] = -INFINITY
        best = self.greatest(score)
        parent = self.of.parent[best]
        while parent < m and density[parent] > self.c[OUTWARD_GAIN] * density[best]:
            best, parent = parent, self.of.parent[parent]
        enough = max(self.c[MIN_SCORE], self.c[SIBLING_SHARE] * score[best])
        for i in range(m):
            chosen[i] = i == best or (
                self.of.parent[i] == parent and score[i] >= enough and not self.beside[i]
            )
        self.of.mark_inside(chosen, kept)
        for i in range(n):
            kept[i] &= self.is_text[i]

    cdef find_body(self, uint8_t[::1] kept):
        cdef const double[::1] prose = self.inside[OF_PROSE]
        cdef Py_ssize_t i, way
        cdef int subject, body
        cdef bint fits
        cdef double most
        cdef uint8_t[::1] chosen = self.chosen
        for way in range(3):  # what is named a body; an <article>; the <main>
            most = -1
            for i in range(self.of.m):
                subject, body = self.count[SUBJECT, i], self.count[BODY, i]
                fits = subject > 0 and body > 0 and subject + body > 1
                if way:
                    fits = self.of.tag[i] == self.c[ARTICLE_TAG if way == 1 else MAIN_TAG]
                chosen[i] = fits and self.beside[i] == 0 and prose[i] >= self.c[MIN_TEXT]
                most = max(most, prose[i]) if chosen[i] else most
            for i in range(self.of.m):
                if chosen[i] and prose[i] >= self.c[SECOND_BODY] * most:
                    return self.keep(i, kept)

    cdef follow_headline(self, uint8_t[::1] kept):
        cdef Py_ssize_t n = self.of.n, i, level, element, headline = -1, begin = 0, end = n
        cdef double[::1] prose = self.value[OF_RUN], total = self.inside[BELOW]
        cdef double enough = 0
        for i in range(n - 1, -1, -1):
            if self.rows[BELOW_HEADLINE, i] > 0:
                headline = i - 1
                prose[i] = self.value[OF_PROSE, i]
                enough += prose[i]
        if headline < 0:
            return
        enough = max(self.c[MIN_TEXT], self.c[HEADLINE_SHARE] * enough)
        self.of.add_inside(prose, total)
        for level in range(self.of.around.shape[0]):
            element = self.of.around[level, headline]
            if element < self.of.m and total[element] >= enough:
                begin, end = self.of.begin[element], self.of.end[element]
                break
        for i in range(begin, end):
            kept[i] = self.is_text[i] and self.rows[BELOW_HEADLINE, i] > 0 and not (
                self.blocks.level(headline) == 1 and self.rows[LATER_HEADINGS, i] != 0
            )

    cdef find_run(self, uint8_t[::1] kept):
        cdef Py_ssize_t i, start, end
        cdef double[::1] value = self.value[OF_RUN]
        for i in range(self.of.n):
            value[i] = self.density(i, self.c[TAG_PRICE_IN_RUN])
        start, end, _ = best_run(value)
        for i in range(start, end):
            kept[i] = self.is_unlinked(i)
