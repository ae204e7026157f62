/* The compiled rollouts of Hachinin Meri: flat.py and playout.py once more, for speed and for nothing else.
 *
 * It never decides what is legal or what a deal scores: it estimates. Tests hold it to the rules (every legal set,
 * transition and score) and to the Python rollouts (the same numbers). Numbers such as H20 are those of the rules.
 *
 * A card is a place: 0-59 the plain cards, four suits side by side, from 60 the trumps by rank. The quick player's
 * tables arrive once through configure(). Needs GCC or Clang (bit builtins); Python's stable ABI from 3.11.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SEATS = 8, TRICKS = 9, SHIFT = 60, PLACES = 76, MOST_TRUMPS = 16, RANKS = 18, MOST_HAND = 10, UNIT = 1000 };
enum { STEPS = 8, MOST_STEPS = SEATS * STEPS, MOST_CARDS = 10, NINTH_STAKE = 5, ALL_SEATS = 255 };
enum { DECLARING, DISCARDING, PLAYING, OVER };      /* flat.PHASES */
enum { DECLARE = 100, PASS = 101, MOST_MOVES = 10 }; /* kernel.py's codes of the answers */

#define PLAINS (((uint64_t)1 << SHIFT) - 1)
#define SUIT ((uint64_t)0x111111111111111)

/* Tables and weights, in the order of kernel.py's tables(). Written once, before any search. */
static struct {
    int32_t holding[MOST_TRUMPS + 1][SEATS][MOST_CARDS + 1];
    int32_t unbeaten[MOST_TRUMPS + 1][MOST_TRUMPS + 1][MOST_STEPS];
    int32_t no_trump[MOST_STEPS];
    int32_t kept[MOST_TRUMPS + 1][MOST_TRUMPS + 1];
    int32_t unfollowed[16][SEATS];
    int32_t trumps_in, highest_plain, last_plain;
} T;
static bool configured;

/* flat.Terms and flat.Flat; every field eight bytes wide, so that both sides agree on the layout. Piles come in two
 * words: plain cards, and trumps by rank. */
typedef struct {
    uint64_t trumps, okie_plain, okie_trump, robai;
    int64_t dealer, suit_first, discard_any, ninth_led;
    uint64_t lows[RANKS];
    int64_t highs[RANKS], stakes[RANKS], concealed_stakes[RANKS];
} Terms;

typedef struct {
    uint64_t plains[SEATS], trumps[SEATS];
    uint64_t aside_plain, aside_trumps, gone_plain, gone_trumps;
    uint64_t covered, led, top_plain, tops[2];
    int64_t phase, turn, taker, concealed, lone, void_seats, monchi, settled, points;
    int64_t leader, count, meri, down, top_trump_seat, top_plain_seat;
} Deal;

typedef struct {
    uint64_t plain, trumps;
} Pile;

static inline int bits(uint64_t pile) { return __builtin_popcountll(pile); }
static inline uint64_t lowest(uint64_t pile) { return pile & (~pile + 1); }
static inline uint64_t highest(uint64_t pile) { return (uint64_t)1 << (63 - __builtin_clzll(pile)); }
static inline int place_of(uint64_t one) { return __builtin_ctzll(one); }
static inline int rank_of(uint64_t trump) { return 64 - __builtin_clzll(trump); }
static inline uint64_t suit_of(uint64_t plain) { return SUIT << (place_of(plain) & 3); }
static inline uint64_t larger(uint64_t one, uint64_t other) { return one > other ? one : other; }

/* The course of a deal: flat.py ---------------------------------------------------------------------------------- */

static Pile playable(const Terms *terms, const Deal *deal) { /* H12, H13, H16-H20 */
    Pile hand = {deal->plains[deal->turn], deal->trumps[deal->turn]};
    if (deal->phase == DISCARDING) {
        if (!terms->discard_any && hand.plain) hand.trumps = 0;
    } else if (!deal->count) {
        if (!deal->settled && hand.plain) hand.trumps = 0; /* H13 */
    } else if (deal->meri) {
        bool lone_sun = hand.trumps == (terms->trumps + 1) >> 1 && deal->lone >> deal->turn & 1;
        if (hand.trumps && !lone_sun) hand.plain = 0; /* H18, H19 */
    } else if (deal->monchi && hand.plain & deal->led) { /* H20 */
        hand.plain &= deal->led;
        if (terms->suit_first) hand.trumps = 0;
    }
    return hand;
}

static void answer(const Terms *terms, Deal *deal, bool declared) { /* H10, H11 */
    deal->concealed = !declared && deal->trumps[deal->turn] & terms->robai;
    deal->taker = declared ? deal->turn : terms->dealer;
    deal->turn = deal->taker;
    deal->plains[deal->taker] |= terms->okie_plain;
    deal->trumps[deal->taker] |= terms->okie_trump;
    deal->phase = DISCARDING;
}

static void settle(const Terms *terms, Deal *deal);

static void put(Deal *deal, int seat, uint64_t plain, uint64_t trump) { /* a card's part in who takes the trick (H15) */
    if (trump) {
        if (trump > larger(deal->tops[0], deal->tops[1])) deal->top_trump_seat = seat;
        deal->tops[seat & 1] = larger(trump, deal->tops[seat & 1]);
    } else if (plain & deal->led && plain > deal->top_plain) {
        deal->top_plain = plain;
        deal->top_plain_seat = seat;
    }
}

static void reveal(const Terms *terms, Deal *deal) { /* H21 */
    int64_t dealer = terms->dealer;
    deal->meri = 0;
    deal->down = 0;
    deal->covered = deal->tops[0] = deal->tops[1] = 0;
    deal->top_plain = deal->plains[dealer];
    deal->top_plain_seat = dealer;
    deal->led = deal->top_plain ? suit_of(deal->top_plain) : 0;
    for (int seat = 0; seat < SEATS; seat++) {
        put(deal, seat, deal->plains[seat], deal->trumps[seat]);
        deal->gone_plain |= deal->plains[seat];
        deal->gone_trumps |= deal->trumps[seat];
        deal->plains[seat] = deal->trumps[seat] = 0;
    }
    settle(terms, deal);
}

static void settle(const Terms *terms, Deal *deal) {
    uint64_t high = larger(deal->tops[0], deal->tops[1]);
    int64_t winner = high ? deal->top_trump_seat : deal->top_plain_seat;
    int odd = (int)(winner & 1);
    deal->settled++;
    deal->points += !odd; /* H22 */
    if (high && !deal->meri) { /* H23-H25 */
        int rank = rank_of(high);
        if (deal->tops[1 - odd] & terms->lows[rank]) {
            int64_t stake = (deal->concealed ? terms->concealed_stakes : terms->stakes)[rank];
            if (deal->settled == TRICKS) stake = NINTH_STAKE;
            deal->points += odd ? -stake : stake;
        }
    }
    deal->gone_trumps |= deal->covered; /* H17 */
    deal->monchi |= deal->meri;
    deal->count = 0;
    deal->turn = winner;
    if (deal->settled == TRICKS) {
        deal->phase = OVER;
    } else if (deal->settled == TRICKS - 1 && !terms->ninth_led) {
        reveal(terms, deal);
    }
}

static void play(const Terms *terms, Deal *deal, int place) { /* H15-H18 */
    int seat = (int)deal->turn;
    uint64_t plain = place < SHIFT ? (uint64_t)1 << place : 0, trump = place < SHIFT ? 0 : (uint64_t)1 << (place - SHIFT);
    deal->plains[seat] &= ~plain;
    deal->trumps[seat] &= ~trump;
    if (!deal->count) {
        deal->gone_plain |= deal->aside_plain; /* H14 */
        deal->gone_trumps |= deal->aside_trumps;
        deal->leader = deal->top_plain_seat = deal->top_trump_seat = seat;
        deal->meri = trump != 0;
        deal->led = trump ? 0 : suit_of(plain);
        deal->down = 0;
        deal->covered = deal->tops[0] = deal->tops[1] = deal->top_plain = 0;
    }
    if (trump) {
        if (deal->meri) {
            deal->gone_trumps |= trump;
        } else {
            deal->down |= 1 << seat;
            deal->covered |= trump;
        }
    } else {
        deal->gone_plain |= plain;
        if (deal->meri) deal->void_seats |= 1 << seat;
    }
    put(deal, seat, plain, trump);
    if (++deal->count < SEATS) {
        deal->turn = (seat + 1) % SEATS;
    } else {
        settle(terms, deal);
    }
}

static void discard(Deal *deal, int place) { /* H12 */
    if (place < SHIFT) {
        deal->plains[deal->turn] &= ~((uint64_t)1 << place);
        deal->aside_plain |= (uint64_t)1 << place;
    } else {
        deal->trumps[deal->turn] &= ~((uint64_t)1 << (place - SHIFT));
        deal->aside_trumps |= (uint64_t)1 << (place - SHIFT);
    }
    deal->phase = PLAYING;
}

static void apply(const Terms *terms, Deal *deal, int move) {
    if (deal->phase == PLAYING) {
        play(terms, deal, move);
    } else if (deal->phase == DISCARDING) {
        discard(deal, move);
    } else {
        answer(terms, deal, move == DECLARE);
    }
}

/* Writes the moves that are open, plain cards first, and says how many they are. */
static int legal(const Terms *terms, const Deal *deal, uint8_t moves[MOST_MOVES]) {
    int found = 0;
    if (deal->phase == OVER) return 0;
    if (deal->phase == DECLARING) {
        moves[found++] = PASS;
        if (deal->trumps[deal->turn] & terms->robai) moves[found++] = DECLARE;
        return found;
    }
    Pile cards = playable(terms, deal);
    for (; cards.plain; cards.plain &= cards.plain - 1) moves[found++] = (uint8_t)place_of(cards.plain);
    for (; cards.trumps; cards.trumps &= cards.trumps - 1) moves[found++] = (uint8_t)(SHIFT + place_of(cards.trumps));
    return found;
}

/* The quick player: playout.py, move for move --------------------------------------------------------------------- */

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

static int64_t play_out(const Terms *terms, Deal *deal) {
    while (deal->phase != OVER) apply(terms, deal, quick_move(terms, deal));
    return deal->points;
}

/* Reading what Python gives. Whatever the bytes are, nothing that passes can make the code above leave its arrays or
 * run for ever; that the cards make a deal is for the caller to know. --------------------------------------------- */

typedef struct {
    const char *bytes;
    Py_ssize_t length;
} Given;

static bool refuse(const char *what) {
    PyErr_Format(PyExc_ValueError, "not %s", what);
    return false;
}

static bool within(int64_t number, int64_t least, int64_t most) { return number >= least && number <= most; }
static bool one(uint64_t pile) { return pile && !(pile & (pile - 1)); }

static bool sound_terms(const Terms *terms) {
    bool right = (terms->trumps == 0x7FFF || terms->trumps == 0xFFFF) && within(terms->dealer, 0, SEATS - 1) &&
                 within(terms->suit_first, 0, 1) && within(terms->discard_any, 0, 1) && within(terms->ninth_led, 0, 1) &&
                 !terms->okie_plain && one(terms->okie_trump) && one(terms->robai) &&
                 !((terms->okie_trump | terms->robai) & ~terms->trumps);
    for (int rank = 0; right && rank < RANKS; rank++) {
        right = within(terms->highs[rank], 0, MOST_TRUMPS) && within(terms->stakes[rank], 0, NINTH_STAKE) &&
                within(terms->concealed_stakes[rank], 0, NINTH_STAKE);
    }
    return right;
}

/* Cards that each seat holds follow from the phase and the trick in play, so that the deal comes to its end. */
static bool sound_deal(const Terms *terms, const Deal *deal) {
    bool right = within(deal->phase, DECLARING, OVER) && within(deal->turn, 0, SEATS - 1) &&
                 within(deal->taker, -1, SEATS - 1) && within(deal->concealed, 0, 1) && within(deal->lone, 0, ALL_SEATS) &&
                 within(deal->void_seats, 0, ALL_SEATS) && within(deal->monchi, 0, 1) && within(deal->settled, 0, TRICKS) &&
                 within(deal->points, -100, 100) && within(deal->leader, 0, SEATS - 1) &&
                 within(deal->count, 0, SEATS - 1) && within(deal->meri, 0, 1) && within(deal->down, 0, ALL_SEATS) &&
                 within(deal->top_trump_seat, 0, SEATS - 1) && within(deal->top_plain_seat, 0, SEATS - 1);
    if (!right) return false;
    uint64_t dealt_plain = 0, dealt_trumps = 0;
    if ((deal->top_plain | deal->led | deal->gone_plain | deal->aside_plain) & ~PLAINS) return false;
    if ((deal->tops[0] | deal->tops[1] | deal->covered | deal->gone_trumps | deal->aside_trumps) & ~terms->trumps) return false;
    if ((deal->tops[0] && !one(deal->tops[0])) || (deal->tops[1] && !one(deal->tops[1]))) return false;
    if (deal->count && !deal->meri && (!one(deal->top_plain) || deal->led != suit_of(deal->top_plain))) return false;
    if (deal->count && deal->meri && !(deal->tops[0] | deal->tops[1])) return false;
    if (deal->count && (deal->leader + deal->count) % SEATS != deal->turn) return false;
    if (deal->phase != PLAYING && (deal->count || (deal->settled && deal->phase != OVER))) return false;
    if (deal->phase == PLAYING && deal->settled > TRICKS - 1 - !terms->ninth_led) return false;
    for (int seat = 0; seat < SEATS; seat++) {
        uint64_t plain = deal->plains[seat], trumps = deal->trumps[seat];
        if (plain & (~PLAINS | dealt_plain) || trumps & (~terms->trumps | dealt_trumps)) return false;
        dealt_plain |= plain;
        dealt_trumps |= trumps;
        int played = (seat - (int)deal->leader + SEATS) % SEATS < (int)deal->count;
        int held = deal->phase == OVER ? 0 : TRICKS - (int)deal->settled - played;
        if (deal->phase == DISCARDING && seat == deal->turn) held++;
        if (bits(plain) + bits(trumps) != held) return false;
    }
    return deal->phase != DECLARING || !(dealt_trumps & terms->okie_trump);
}

static bool read_deal(Given given_terms, Given given, Terms *terms, Deal *deal) {
    if (!configured) return refuse("configured");
    if (given_terms.length != (Py_ssize_t)sizeof(Terms)) return refuse("terms");
    memcpy(terms, given_terms.bytes, sizeof(Terms));
    if (!sound_terms(terms)) return refuse("terms");
    if (given.length != (Py_ssize_t)sizeof(Deal)) return refuse("a deal");
    memcpy(deal, given.bytes, sizeof(Deal));
    return sound_deal(terms, deal) || refuse("a deal");
}

static bool all_legal(const Terms *terms, const Deal *deal, Given moves) {
    uint8_t open_moves[MOST_MOVES];
    int open_count = legal(terms, deal, open_moves);
    if (moves.length > MOST_MOVES) return refuse("legal");
    for (Py_ssize_t index = 0; index < moves.length; index++) {
        if (!memchr(open_moves, moves.bytes[index], (size_t)open_count)) return refuse("legal");
    }
    return true;
}

/* Python's door ---------------------------------------------------------------------------------------------------- */

static PyObject *py_configure(PyObject *module, PyObject *args) {
    Given given;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#", &given.bytes, &given.length)) return NULL;
    configured = given.length == (Py_ssize_t)sizeof(T);
    if (configured) memcpy(&T, given.bytes, sizeof(T));
    const int32_t *words = (const int32_t *)&T;
    for (size_t index = 0; configured && index < sizeof(T) / sizeof(*words); index++) {
        configured = within(words[index], 0, UNIT);
    }
    if (!configured) {
        refuse("the tables");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *py_legal(PyObject *module, PyObject *args) {
    Given given_terms, given;
    Terms terms;
    Deal deal;
    uint8_t moves[MOST_MOVES];
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#", &given_terms.bytes, &given_terms.length, &given.bytes, &given.length) ||
        !read_deal(given_terms, given, &terms, &deal))
        return NULL;
    int found = legal(&terms, &deal, moves);
    return PyBytes_FromStringAndSize((const char *)moves, found);
}

static PyObject *py_apply(PyObject *module, PyObject *args) {
    Given given_terms, given, move;
    Terms terms;
    Deal deal;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#", &given_terms.bytes, &given_terms.length, &given.bytes, &given.length, &move.bytes,
                          &move.length) ||
        !read_deal(given_terms, given, &terms, &deal) || !all_legal(&terms, &deal, move))
        return NULL;
    if (move.length != 1) {
        refuse("one move");
        return NULL;
    }
    apply(&terms, &deal, (uint8_t)move.bytes[0]);
    return PyBytes_FromStringAndSize((const char *)&deal, (Py_ssize_t)sizeof(deal));
}

static PyObject *py_outcomes(PyObject *module, PyObject *args) {
    Given given_terms, given, moves;
    Terms terms;
    Deal world;
    int64_t found[MOST_MOVES] = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#", &given_terms.bytes, &given_terms.length, &given.bytes, &given.length, &moves.bytes,
                          &moves.length) ||
        !read_deal(given_terms, given, &terms, &world) || !all_legal(&terms, &world, moves))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t index = 0; index < moves.length; index++) {
        Deal deal = world;
        apply(&terms, &deal, (uint8_t)moves.bytes[index]);
        int64_t points = play_out(&terms, &deal);
        found[index] = world.turn & 1 ? TRICKS - points : points;
    }
    Py_END_ALLOW_THREADS;
    PyObject *made = PyList_New(moves.length);
    for (Py_ssize_t index = 0; made != NULL && index < moves.length; index++) {
        PyObject *number = PyLong_FromLongLong(found[index]);
        if (number == NULL || PyList_SetItem(made, index, number) < 0) Py_CLEAR(made);
    }
    return made;
}

static PyMethodDef methods[] = {
    {"configure", py_configure, METH_VARARGS, "configure(tables): takes playout.py's tables and weights."},
    {"legal", py_legal, METH_VARARGS, "legal(terms, deal) -> the moves that are open, a byte each."},
    {"apply", py_apply, METH_VARARGS, "apply(terms, deal, move) -> the deal after a legal move."},
    {"outcomes", py_outcomes, METH_VARARGS, "outcomes(terms, deal, moves) -> what each move comes to, played out."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "The compiled rollouts of Hachinin Meri.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModule_Create(&definition); }
