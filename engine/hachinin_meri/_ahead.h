/* How a sampled world is played on and judged: ahead.py once more, number for number. */

/* The seats that play as the plain player: one in four, from sixteen random bits. */
static int plain_seats(uint64_t number) { return (int)(number & number >> SEATS & ALL_SEATS); }

/* The plain player: takes what a partner does not have, as cheaply as it can; else plays what is cheapest. */
static int plain_move(const Terms *terms, const Deal *deal) {
    if (deal->phase == DECLARING) return deal->trumps[deal->turn] & terms->robai ? DECLARE : PASS;
    Pile cards = playable(terms, deal);
    int cheapest = cards.plain ? place_of(cards.plain) : SHIFT + place_of(cards.trumps);
    if (deal->phase == DISCARDING || !deal->count) return cheapest;
    int down = bits((uint64_t)deal->down);
    int64_t holder = deal->meri ? deal->top_trump_seat : deal->top_plain_seat;
    if (down == 1) holder = place_of((uint64_t)deal->down);
    if (down < 2 && !((holder ^ deal->turn) & 1)) return cheapest;
    if (deal->count == SEATS - 1 && !down && !deal->meri) {
        uint64_t over = cards.plain & deal->led & (~deal->top_plain + 1) & ~deal->top_plain;
        if (over) return place_of(over);
    }
    if (deal->meri) cards.trumps &= ~(2 * larger(deal->tops[0], deal->tops[1]) - 1);
    return cards.trumps && (deal->meri || deal->count >= SEATS / 2) ? SHIFT + place_of(cards.trumps) : cheapest;
}

/* What the even seats' team may expect of a deal between two tricks, in thousandths. */
static int64_t judged(const Deal *deal) {
    uint64_t mine = deal->trumps[0] | deal->trumps[2] | deal->trumps[4] | deal->trumps[6];
    uint64_t all = mine | deal->trumps[1] | deal->trumps[3] | deal->trumps[5] | deal->trumps[7];
    int64_t value = deal->points * UNIT + (TRICKS - deal->settled) * UNIT / 2;
    for (int above = 0; all; above++) {
        uint64_t top = highest(all);
        value += top & mine ? T.prospects[deal->settled][above] : -T.prospects[deal->settled][above];
        all ^= top;
    }
    return value;
}

/* How far a world is played on: to the end of the trick, unless the deal is nearly over. */
static int64_t horizon(const Deal *deal) { return deal->settled < JUDGED ? deal->settled + 1 : TRICKS; }

/* What the even seats' team may expect, in thousandths, once `until` tricks are settled; seats in `plain` play as the
 * plain player. */
static int64_t play_on(const Terms *terms, Deal *deal, int64_t until, int plain) {
    while (deal->phase != OVER) {
        if (deal->settled >= until && !deal->count) return judged(deal);
        apply(terms, deal, plain >> deal->turn & 1 ? plain_move(terms, deal) : quick_move(terms, deal));
    }
    return deal->points * UNIT;
}

/* What each move comes to, for the team whose turn it is, added to `sums`. */
static void try_moves(const Terms *terms, const Deal *deal, const uint8_t *moves, int count, int plain,
                      int64_t sums[MOST_MOVES]) {
    int64_t until = horizon(deal);
    for (int index = 0; index < count; index++) {
        Deal copy = *deal;
        apply(terms, &copy, moves[index]);
        int64_t points = play_on(terms, &copy, until, plain);
        sums[index] += deal->turn & 1 ? TRICKS * UNIT - points : points;
    }
}
