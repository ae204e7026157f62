/* The quick player, one of two who play sampled worlds on: quick.py once more, move for move. */

enum { UNIT = 1000, STEPS = 8, MOST_STEPS = SEATS * STEPS, MOST_CARDS = 10, JUDGED = 6 };

/* Tables and weights of this and of _ahead.h, in the order of kernel.py's tables(). Written once, before any search. */
static struct {
    int32_t holding[MOST_TRUMPS + 1][SEATS][MOST_CARDS + 1];
    int32_t unbeaten[MOST_TRUMPS + 1][MOST_TRUMPS + 1][MOST_STEPS];
    int32_t no_trump[MOST_STEPS];
    int32_t kept[MOST_TRUMPS + 1][MOST_TRUMPS + 1];
    int32_t unfollowed[16][SEATS];
    int32_t trumps_in, highest_plain, last_plain;
    int32_t prospects[JUDGED + 1][MOST_TRUMPS];
} T;

static const uint8_t teams[2] = {0x55, 0xAA};

typedef struct {
    const Terms *terms;
    const Deal *deal;
    uint64_t plain, trumps; /* the own hand */
    uint64_t hidden;
    int seat, me, unseen, down, after;
    bool last;
    int ours, theirs, steps, none, share;
} Look;

static void look(Look *at, const Terms *terms, const Deal *deal) {
    int seat = (int)deal->turn;
    at->terms = terms;
    at->deal = deal;
    at->seat = seat;
    at->me = seat & 1;
    at->plain = deal->plains[seat];
    at->trumps = deal->trumps[seat];
    at->hidden = terms->trumps & ~(deal->gone_trumps | at->trumps);
    at->unseen = bits(at->hidden);
    at->last = deal->settled == TRICKS - 2 && !terms->ninth_led;
    at->down = deal->count ? (int)deal->down : 0;
    at->after = 0;
    for (int place = deal->count ? (int)deal->count + 1 : 1; place < SEATS; place++) {
        at->after |= 1 << ((deal->count ? (int)deal->leader : seat) + place) % SEATS;
    }
}

/* Count on the trumps that lie face down and that `after` may yet play, at `rate` thousandths. */
static void expect(Look *at, int rate, int down, int after) {
    int shown_void = (int)at->deal->void_seats;
    int others = bits((uint64_t)(ALL_SEATS & ~shown_void & ~(1 << at->seat)));
    int in_hands = at->unseen - bits((uint64_t)down);
    int chance = T.holding[in_hands < 0 ? 0 : in_hands][others][TRICKS - at->deal->settled] * rate / UNIT;
    int live = after & ~shown_void, mine = teams[at->me];
    at->ours = bits((uint64_t)(down & mine)) * UNIT + bits((uint64_t)(live & mine)) * chance;
    at->theirs = bits((uint64_t)(down & ~mine)) * UNIT + bits((uint64_t)(live & ~mine)) * chance;
    at->steps = (at->ours + at->theirs) * STEPS / UNIT;
    at->none = down ? 0 : T.no_trump[at->steps];
    at->share = at->ours + at->theirs ? at->ours * UNIT / (at->ours + at->theirs) : 0;
}

static int beaten(const Look *at, uint64_t trump) {
    return UNIT - T.unbeaten[at->unseen][bits(at->hidden & (~trump + 1))][at->steps];
}

static int kept_trump(const Look *at, uint64_t trump) { return T.kept[at->unseen][bits(at->hidden & (trump - 1))]; }

static int higher_plain(const Look *at, uint64_t card) {
    return bits(suit_of(card) & (~card + 1) & ~(at->deal->gone_plain | at->plain));
}

static int kept_plain(const Look *at, uint64_t card) { return T.highest_plain >> higher_plain(at, card); }

static int face_down(const Look *at, uint64_t trump, bool ninth) { /* H23 */
    const Terms *terms = at->terms;
    int over = beaten(at, trump), value = UNIT - over + over * at->share / UNIT;
    if (at->unseen) {
        const int64_t *stakes = at->deal->concealed ? terms->concealed_stakes : terms->stakes;
        int rank = rank_of(trump), chance = at->theirs / at->unseen;
        int64_t high = terms->highs[rank];
        if (chance > UNIT) chance = UNIT;
        if (terms->lows[rank] & at->hidden)
            value += (ninth ? NINTH_STAKE : (int)stakes[rank]) * chance * (UNIT - over) / UNIT;
        if (high && at->hidden >> (high - 1) & 1) value -= (ninth ? NINTH_STAKE : (int)stakes[high]) * chance;
    }
    return value;
}

static int as_last(const Look *at, uint64_t trump) { /* H21 */
    if (trump) return face_down(at, trump, true);
    return (UNIT - at->none) * at->share / UNIT + at->none * T.last_plain / UNIT;
}

/* In the eighth trick: what the other card comes to in the ninth, if this one is played. */
static int other_as_last(const Look *at, uint64_t trump) { return as_last(at, at->trumps & ~trump); }

static int holds(const Look *at, uint64_t top, bool ours) {
    int higher = higher_plain(at, top), coming = bits((uint64_t)at->after);
    int unbeaten = T.unfollowed[higher > 15 ? 15 : higher][coming];
    int partners = coming ? bits((uint64_t)(at->after & teams[at->me])) * UNIT / coming : 0;
    return (UNIT - unbeaten) * partners / UNIT + (ours ? unbeaten : 0);
}

static int to_meri(const Look *at, uint64_t trump) { /* H18 */
    const uint64_t *tops = at->deal->tops;
    uint64_t top = larger(larger(tops[0], tops[1]), trump);
    int over = beaten(at, top);
    bool ours = top == trump || top == tops[at->me];
    return over * at->share / UNIT + (ours ? UNIT - over : 0);
}

static int to_plain(const Look *at, uint64_t plain, uint64_t trump) {
    if (trump) return face_down(at, trump, false);
    int value = (UNIT - at->none) * at->share / UNIT;
    if (at->none) {
        uint64_t top = at->deal->top_plain;
        bool ours = (at->deal->top_plain_seat & 1) == at->me;
        if (plain & at->deal->led && plain > top) {
            top = plain;
            ours = true;
        }
        value += at->none * holds(at, top, ours) / UNIT;
    }
    return value;
}

typedef struct {
    int value, place;
} Best;

static inline void offer(Best *best, int value, int place) {
    if (value > best->value) {
        best->value = value;
        best->place = place;
    }
}

static int plain_follow_up(Look *at, uint64_t plain, const Look *ninth) {
    int value = at->deal->meri ? to_meri(at, 0) : to_plain(at, plain, 0);
    return value + (at->last ? other_as_last(ninth, 0) : -kept_plain(at, plain));
}

static int trump_follow_up(Look *at, uint64_t trump, const Look *ninth) {
    int value = at->deal->meri ? to_meri(at, trump) : to_plain(at, 0, trump);
    return value + (at->last ? other_as_last(ninth, trump) : -kept_trump(at, trump));
}

static int follow(Look *at, Pile cards, const Look *ninth) {
    Best best = {-1000000, 0};
    expect(at, at->deal->meri ? UNIT : T.trumps_in, at->down, at->after);
    if (at->last) {
        for (uint64_t left = cards.plain; left; left &= left - 1)
            offer(&best, plain_follow_up(at, lowest(left), ninth), place_of(left));
    }
    for (uint64_t left = cards.trumps; left; left &= left - 1)
        offer(&best, trump_follow_up(at, lowest(left), ninth), SHIFT + place_of(left));
    if (at->last || !cards.plain) return best.place;
    uint64_t card = lowest(cards.plain), suit = cards.plain & at->deal->led;
    offer(&best, plain_follow_up(at, card, ninth), place_of(card));
    if (suit && !at->deal->meri) {
        uint64_t higher = suit & (~at->deal->top_plain + 1);
        if (higher) {
            card = at->after ? highest(higher) : lowest(higher);
            offer(&best, plain_follow_up(at, card, ninth), place_of(card));
        }
        offer(&best, plain_follow_up(at, lowest(suit), ninth), place_of(suit));
    }
    return best.place;
}

static void offer_lead(Best *best, const Look *at, uint64_t card, int base, const Look *ninth) {
    int value = base + at->none * holds(at, card, true) / UNIT;
    offer(best, value + (at->last ? other_as_last(ninth, 0) : -kept_plain(at, card)), place_of(card));
}

static int lead(Look *at, Pile cards, const Look *ninth) {
    Best best = {-1000000, 0};
    if (cards.plain) {
        expect(at, T.trumps_in, at->down, at->after);
        int base = (UNIT - at->none) * at->share / UNIT;
        if (at->last) {
            for (uint64_t left = cards.plain; left; left &= left - 1) offer_lead(&best, at, lowest(left), base, ninth);
        } else {
            offer_lead(&best, at, lowest(cards.plain), base, ninth);
            offer_lead(&best, at, highest(cards.plain), base, ninth);
        }
    }
    if (cards.trumps) {
        expect(at, UNIT, at->down, at->after);
        for (uint64_t left = cards.trumps; left; left &= left - 1) {
            uint64_t trump = lowest(left);
            int over = beaten(at, trump), value = over * at->share / UNIT + UNIT - over;
            offer(&best, value + (at->last ? other_as_last(ninth, trump) : -kept_trump(at, trump)), SHIFT + place_of(trump));
        }
    }
    return best.place;
}

static int put_away(Pile cards) {
    uint64_t shortest = 0;
    for (int suit = 0; suit < 4; suit++) {
        uint64_t there = cards.plain & SUIT << suit;
        if (there && (!shortest || bits(there) < bits(shortest))) shortest = there;
    }
    return shortest ? place_of(shortest) : SHIFT + place_of(cards.trumps);
}

static int quick_move(const Terms *terms, const Deal *deal) {
    Look at, ninth;
    if (deal->phase == DECLARING) return deal->trumps[deal->turn] & terms->robai ? DECLARE : PASS;
    Pile cards = playable(terms, deal);
    if (deal->phase == DISCARDING) return put_away(cards);
    if (bits(cards.plain) + bits(cards.trumps) == 1)
        return cards.plain ? place_of(cards.plain) : SHIFT + place_of(cards.trumps);
    look(&at, terms, deal);
    if (at.last) {
        ninth = at;
        expect(&ninth, T.trumps_in, 0, ALL_SEATS & ~(1 << at.seat));
    }
    return deal->count ? follow(&at, cards, &ninth) : lead(&at, cards, &ninth);
}
