/* Worlds that agree with what a player sees: seen.py and fillings.py once more, with a generator of their own.
 *
 * The counting was done in Python, once for the decision; here the counts are followed. That is even but for rounding:
 * the share of a branch is a number of 64 bits.
 */

enum { KINDS = 8, MOST_PLACES = 20, MOST_CASES = 4 };
enum { HANDS = 0, DOWN = SEATS, SIDE = 2 * SEATS }; /* kernel.py's codes: a seat's hand, its face-down card, the sides */

static uint64_t next_number(uint64_t *dice) { /* splitmix64 (Steele, Lea, Flood 2014) */
    uint64_t mixed = *dice += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static unsigned below(unsigned bound, uint64_t *dice) { /* bounds are under 128: uneven by less than 2^-25 */
    return (unsigned)((next_number(dice) >> 32) * bound >> 32);
}

/* What the player whose turn it is sees: the deal without the cards that it does not see. */
typedef struct {
    Deal deal;
    uint64_t dealt[SEATS]; /* trumps that each seat was seen to have been dealt, or to have taken */
    uint64_t not_dealt;    /* the taker's Okie */
} Seen;

/* One of the cases that exclude each other: fillings.Fillings, flat. Every field eight bytes wide. */
typedef struct {
    uint64_t up_to;        /* the chance of this case and those before it, in 2^-64 */
    int64_t root;          /* the node to begin with */
    int64_t counts[KINDS]; /* cards of each kind */
    int64_t cards[PLACES]; /* the cards, kind after kind */
    int64_t groups;
    struct {
        int64_t into[KINDS]; /* by pile of the group before: the pile of this one that it goes into */
        int64_t places;
    } group[MOST_PLACES];
    struct {
        int64_t where, size;
    } place[MOST_PLACES]; /* group after group */
} Case;

/* A branch of a node: how many cards of the node's pile the group gets, and the node after. A node is a row of these, up
 * to the one whose `up_to` is full. */
typedef struct {
    uint64_t up_to; /* the chance of this branch and those before it, in 2^-64 */
    int64_t pile, taken, after;
} Branch;

typedef struct {
    Seen seen;
    const Case *cases;
    const Branch *branches;
    int64_t case_count, branch_count;
} Sight;

typedef struct {
    int count;
    uint8_t cards[PLACES];
} Heap;

static void shuffle(Heap *heap, int most, uint64_t *dice) { /* the first `most` cards */
    for (int at = 0; at < most && at < heap->count - 1; at++) {
        int chosen = at + (int)below((unsigned)(heap->count - at), dice);
        uint8_t kept = heap->cards[at];
        heap->cards[at] = heap->cards[chosen];
        heap->cards[chosen] = kept;
    }
}

static void join(Heap *to, const uint8_t *cards, int count) {
    memcpy(to->cards + to->count, cards, (size_t)count);
    to->count += count;
}

/* Moves `taken` cards of `from`, drawn at random, to `to`. */
static void take(Heap *to, Heap *from, int taken, uint64_t *dice) {
    for (int left = taken; left; left--) {
        int chosen = (int)below((unsigned)from->count, dice);
        to->cards[to->count++] = from->cards[chosen];
        from->cards[chosen] = from->cards[--from->count];
    }
}

static void lay(const Terms *terms, Seen *seen, int where, Pile cards) {
    Deal *deal = &seen->deal;
    int seat = where % SEATS;
    if (where == SIDE) { /* H14, H25 */
        deal->aside_plain |= cards.plain;
        deal->aside_trumps |= cards.trumps;
        if (cards.trumps & terms->robai) deal->concealed = 0;
        return;
    }
    seen->dealt[seat] |= cards.trumps;
    if (where < DOWN) {
        deal->plains[seat] |= cards.plain;
        deal->trumps[seat] |= cards.trumps;
    } else { /* H17 */
        deal->covered |= cards.trumps;
        put(deal, seat, 0, cards.trumps);
    }
}

/* Cards for one group's places: which of the piles they come from follows the counts, unless it gets all that is left. */
static bool gather(const Sight *sight, int64_t *node, int size, Heap piles[KINDS], Heap *got, uint64_t *dice) {
    while (got->count < size) {
        if (*node < 0) return false;
        const Branch *branch = sight->branches + *node;
        if (branch->up_to != UINT64_MAX) {
            uint64_t drawn = next_number(dice);
            while (branch->up_to != UINT64_MAX && drawn >= branch->up_to) branch++;
        }
        if (piles[branch->pile].count < branch->taken || got->count + branch->taken > size) return false;
        take(got, &piles[branch->pile], (int)branch->taken, dice);
        *node = branch->after;
    }
    return true;
}

static bool fill(const Terms *terms, const Sight *sight, const Case *from, Seen *world, uint64_t *dice) {
    Heap heaps[2][KINDS], *piles = heaps[0], *merged = heaps[1];
    int64_t node = from->root, placed = 0;
    int first = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        piles[kind].count = (int)from->counts[kind];
        for (int card = 0; card < piles[kind].count; card++) piles[kind].cards[card] = (uint8_t)from->cards[first++];
    }
    for (int64_t group = 0; group < from->groups; group++) {
        Heap got = {0, {0}};
        int size = 0, given = 0;
        for (int kind = 0; kind < KINDS; kind++) merged[kind].count = 0;
        for (int kind = 0; kind < KINDS; kind++)
            join(&merged[from->group[group].into[kind]], piles[kind].cards, piles[kind].count);
        for (int64_t place = 0; place < from->group[group].places; place++) size += (int)from->place[placed + place].size;
        if (group == from->groups - 1) {
            for (int kind = 0; kind < KINDS; kind++) join(&got, merged[kind].cards, merged[kind].count);
            if (got.count != size) return false;
        } else if (!gather(sight, &node, size, merged, &got, dice)) {
            return false;
        }
        if (from->group[group].places > 1) shuffle(&got, size, dice);
        for (int64_t place = 0; place < from->group[group].places; place++, placed++) {
            Pile cards = {0, 0};
            for (int64_t left = from->place[placed].size; left; left--) {
                int card = got.cards[given++];
                if (card < SHIFT) {
                    cards.plain |= (uint64_t)1 << card;
                } else {
                    cards.trumps |= (uint64_t)1 << (card - SHIFT);
                }
            }
            lay(terms, world, (int)from->place[placed].where, cards);
        }
        Heap *kept = piles;
        piles = merged;
        merged = kept;
    }
    return true;
}

/* Draws a world into `deal`. False if the counts do not fit the cards, which no view comes to. */
static bool draw(const Terms *terms, const Sight *sight, Deal *deal, uint64_t *dice) {
    Seen world = sight->seen;
    const Case *from = sight->cases;
    if (sight->case_count > 1) {
        uint64_t drawn = next_number(dice);
        while (from->up_to != UINT64_MAX && drawn >= from->up_to) from++;
    }
    if (!fill(terms, sight, from, &world, dice)) return false;
    if (world.deal.taker >= 0) world.dealt[world.deal.taker] &= ~world.not_dealt;
    world.deal.lone = 0;
    for (int seat = 0; seat < SEATS; seat++) { /* H19 */
        if (world.dealt[seat] == (terms->trumps + 1) >> 1) world.deal.lone |= 1 << seat;
    }
    *deal = world.deal;
    return true;
}
