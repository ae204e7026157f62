/* A deal of Hachinin Meri: flat.py once more. Tests hold it to the rules: every legal set, transition and score.
 *
 * A card is a place: 0-59 the plain cards, four suits side by side, from 60 the trumps by rank. Numbers such as H20 are
 * those of the rules. Needs GCC or Clang (bit builtins).
 */

#include <stdbool.h>
#include <stdint.h>

enum { SEATS = 8, TRICKS = 9, SHIFT = 60, PLACES = 76, MOST_TRUMPS = 16, RANKS = 18, MOST_HAND = 10 };
enum { NINTH_STAKE = 5, ALL_SEATS = 255 };
enum { DECLARING, DISCARDING, PLAYING, OVER };      /* flat.PHASES */
enum { DECLARE = 100, PASS = 101, MOST_MOVES = 10 }; /* kernel.py's codes of the answers */

#define PLAINS (((uint64_t)1 << SHIFT) - 1)
#define SUIT ((uint64_t)0x111111111111111)

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
