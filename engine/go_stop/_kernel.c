/* The compiled search of go-stop: flat.py and playout.py once more, for speed and for nothing else.
 *
 * It never decides what is legal or what a deal scores: it estimates. Tests hold it to the rules (every legal set,
 * transition and score) and to the Python rollouts (the same moves). Numbers such as G4 are those of the rules.
 *
 * Cards are bits in the order of flat.py; its tables and weights arrive once through configure(). Needs GCC or Clang
 * (bit builtins, arrays by initialiser); Python's stable ABI from 3.11.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t Pile;

enum { CARDS = 48, MONTHS = 12, HAND = 10, STOCK = 20, RISKS = 9, MOST_ACTIONS = 2 * HAND, MOST_UNITS = 28 };
enum { MOST_GOES = HAND, MOST_POINTS = 100, MOST_TRIES = 1000, MOST_WORLDS = 1 << 20 };
enum { PLAY, CHOOSE, DECIDE, OVER }; /* kernel.PHASES */
enum { ANIMAL_SHIFT = 5, RIBBON_SHIFT = 14, JUNK_SHIFT = 24, DOUBLE_SHIFT = 46 };

#define BRIGHTS(pile) ((pile)&0x1F)
#define ANIMALS(pile) ((pile) >> ANIMAL_SHIFT & 0x1FF)
#define RIBBONS(pile) ((pile) >> RIBBON_SHIFT & 0x3FF)
#define CUP ((Pile)1 << 11)
#define ALL (((Pile)1 << CARDS) - 1)

/* Tables and weights, in the order of kernel.py's tables(). Written once, before any search. */
static struct {
    int32_t month_of[CARDS];
    int32_t bright_points[32], animal_points[512], ribbon_points[1024], junk_points[MOST_UNITS + 1];
    int32_t broken_animals[512], broken_ribbons[1024];
    int32_t bright_worths[2][32], animal_worths[2][512], ribbon_worths[8][1024], junk_worths[MOST_UNITS + 1];
    int32_t capture, denial, junk, exposure, kept, rise, lost, risk[RISKS];
} T;

static bool configured;
static Pile month_cards[MONTHS];
static Pile month_of[CARDS];
static uint8_t low_units[4096], high_units[4096]; /* junk units of the lower and the upper twelve kinds of junk */

/* A deal: flat.Flat, every field eight bytes wide so that both sides agree on the layout. */
typedef struct {
    Pile layout, card, matched, revealed;
    Pile hands[2], piles[2], ppuk_stacks[2];
    int64_t ppuks[2], goes[2], go_points[2];
    int64_t turn, phase, winnings;
    int64_t go_bak, nagari_factor, broad_sseul, few_lowest, few_highest;
    int64_t stock_left;
    Pile stock[STOCK]; /* the next card last */
} Deal;

static inline Pile lowest(Pile pile) { return pile & (~pile + 1); }
static inline bool several(Pile pile) { return (pile & (pile - 1)) != 0; }
static inline int place(Pile card) { return __builtin_ctzll(card); }
static inline int count(Pile pile) { return __builtin_popcountll(pile); }
static inline int larger(int one, int other) { return one > other ? one : other; }

/* Points --------------------------------------------------------------------------------------------------------- */

static inline int junk_units(Pile pile) { /* G13 */
    return low_units[pile >> JUNK_SHIFT & 0xFFF] + high_units[pile >> (JUNK_SHIFT + 12) & 0xFFF];
}

static int cup_gain(Pile pile) { /* G14 */
    if (!(pile & CUP)) return 0;
    int units = junk_units(pile);
    Pile animals = ANIMALS(pile);
    /* The cup makes no set, so the difference is what the number of animals is worth. */
    int lost = T.animal_points[animals] - T.animal_points[animals & ~(CUP >> ANIMAL_SHIFT)];
    return larger(0, T.junk_points[units + 2] - T.junk_points[units] - lost);
}

static int points(Pile pile) {
    return T.bright_points[BRIGHTS(pile)] + T.animal_points[ANIMALS(pile)] + T.ribbon_points[RIBBONS(pile)] +
           T.junk_points[junk_units(pile)] + cup_gain(pile);
}

static int64_t after_goes(int64_t score, int64_t goes) { /* G17 */
    return goes < 3 ? score + goes : score << (goes - 2);
}

static int64_t paid(const Deal *deal) { /* G17, G18 and options */
    int seat = (int)deal->turn;
    Pile pile = deal->piles[seat], loser = deal->piles[1 - seat];
    int64_t sum = after_goes(points(pile), deal->goes[seat]);
    int as_junk = cup_gain(pile) > 0;
    int units = junk_units(loser) + (loser & CUP ? 2 : 0);
    if (count(BRIGHTS(pile)) >= 3 && !BRIGHTS(loser)) sum *= 2;
    if (count(ANIMALS(pile)) - as_junk >= 7) sum *= 2;
    if (junk_units(pile) + 2 * as_junk >= 10 && units >= deal->few_lowest && units <= deal->few_highest) sum *= 2;
    if (deal->go_bak && deal->goes[1 - seat]) sum *= 2;
    return sum * deal->nagari_factor;
}

/* The course of a deal ------------------------------------------------------------------------------------------- */

static void pass_on(Deal *deal) { /* G19 */
    if (deal->hands[1 - deal->turn]) {
        deal->turn = 1 - deal->turn;
        deal->phase = PLAY;
    } else {
        deal->phase = OVER;
    }
}

static void take_junk(Deal *deal, int owed) { /* G11 */
    Pile *mine = &deal->piles[deal->turn], *theirs = &deal->piles[1 - deal->turn];
    while (owed > 0 && *theirs >> JUNK_SHIFT) {
        Pile taken = lowest(*theirs >> JUNK_SHIFT) << JUNK_SHIFT;
        *theirs ^= taken;
        *mine |= taken;
        owed -= taken >> DOUBLE_SHIFT ? 2 : 1;
    }
}

static void settle_stack(Deal *deal, Pile month) { /* G10 */
    bool own = (deal->ppuk_stacks[deal->turn] & month) != 0;
    deal->ppuk_stacks[0] &= ~month;
    deal->ppuk_stacks[1] &= ~month;
    take_junk(deal, own ? 2 : 1);
}

static void settle(Deal *deal, Pile stock_matched) { /* G5 to G12 */
    int seat = (int)deal->turn;
    Pile card = deal->card, matched = deal->matched, revealed = deal->revealed, captured = 0;
    Pile month = month_of[place(card)];
    bool same_month = (revealed & month) != 0;
    if (same_month && matched && !stock_matched) { /* ppuk (G6) */
        deal->layout |= card | matched | revealed;
        deal->ppuk_stacks[seat] |= month;
        if (++deal->ppuks[seat] == 3) { /* G12 */
            deal->phase = OVER;
            deal->winnings = 5;
        } else {
            pass_on(deal);
        }
        return;
    }
    if (matched) captured = card | matched;
    if (stock_matched) {
        captured |= revealed | stock_matched;
        deal->layout ^= stock_matched;
    } else {
        deal->layout |= revealed;
    }
    if (!captured) {
        pass_on(deal);
        return;
    }
    deal->piles[seat] |= captured;
    if (several(matched)) settle_stack(deal, month);
    if (several(stock_matched)) settle_stack(deal, month_of[place(revealed)]);
    if (deal->hands[seat]) { /* G9: not in a player's last turn */
        bool two_pairs = !same_month && matched && !several(matched) && stock_matched && !several(stock_matched);
        if (same_month) take_junk(deal, 1); /* ttadak, or else chok (G6, G7) */
        if (!deal->layout && (deal->broad_sseul || two_pairs)) take_junk(deal, 1); /* G8 */
    }
    if (points(deal->piles[seat]) >= larger(7, (int)deal->go_points[seat] + 1)) { /* G15 */
        deal->phase = DECIDE;
    } else {
        pass_on(deal);
    }
}

static void play(Deal *deal, Pile card, Pile matched) { /* G4, G5 */
    deal->hands[deal->turn] ^= card;
    deal->layout ^= matched ? matched : card;
    deal->card = card;
    deal->matched = matched;
    deal->revealed = deal->stock[--deal->stock_left];
    Pile found = deal->layout & month_of[place(deal->revealed)];
    if (count(found) == 2) {
        deal->phase = CHOOSE;
    } else {
        settle(deal, found);
    }
}

static void go(Deal *deal) { /* G15 */
    int seat = (int)deal->turn;
    deal->goes[seat]++;
    deal->go_points[seat] = points(deal->piles[seat]);
    pass_on(deal);
}

static void stop(Deal *deal) { /* G17 */
    deal->winnings = paid(deal);
    deal->phase = OVER;
}

/* A move is flat.Move: the hand card or 0, and what is taken; all ones for go. */
static void apply(Deal *deal, Pile card, Pile taken) {
    if (deal->phase == PLAY) {
        play(deal, card, taken);
    } else if (deal->phase == CHOOSE) {
        settle(deal, taken);
    } else if (taken) {
        go(deal);
    } else {
        stop(deal);
    }
}

/* Writes the moves that are open and says how many they are (G4, G5, G15, G16). */
static int legal(const Deal *deal, Pile moves[MOST_ACTIONS][2]) {
    int found = 0;
    if (deal->phase == PLAY) {
        for (Pile hand = deal->hands[deal->turn]; hand; hand &= hand - 1) {
            Pile card = lowest(hand), matched = deal->layout & month_of[place(card)];
            if (count(matched) == 2) {
                moves[found][0] = card;
                moves[found++][1] = lowest(matched);
                matched &= matched - 1;
            }
            moves[found][0] = card;
            moves[found++][1] = matched;
        }
    } else if (deal->phase == CHOOSE) {
        Pile matched = deal->layout & month_of[place(deal->revealed)];
        moves[found][0] = 0;
        moves[found++][1] = lowest(matched);
        moves[found][0] = 0;
        moves[found++][1] = matched & (matched - 1);
    } else if (deal->phase == DECIDE) {
        if (deal->hands[deal->turn]) {
            moves[found][0] = 0;
            moves[found++][1] = ~(Pile)0;
        }
        moves[found][0] = 0;
        moves[found++][1] = 0;
    }
    return found;
}

/* The quick player: playout.py, move for move -------------------------------------------------------------------- */

typedef struct {
    const int32_t *brights, *animals, *ribbons;
} Eyes;

static inline Eyes eyes(Pile rival) {
    Eyes made = {T.bright_worths[count(BRIGHTS(rival)) > 2], T.animal_worths[T.broken_animals[ANIMALS(rival)]],
                 T.ribbon_worths[T.broken_ribbons[RIBBONS(rival)]]};
    return made;
}

static inline int worth(const Eyes *by, Pile pile) {
    return by->brights[BRIGHTS(pile)] + by->animals[ANIMALS(pile)] + by->ribbons[RIBBONS(pile)] +
           T.junk_worths[junk_units(pile)];
}

static Pile quick_discard(const Deal *deal) {
    int seat = (int)deal->turn, best = -1000000;
    Pile mine = deal->piles[seat], theirs = deal->piles[1 - seat], hand = deal->hands[seat], best_card = hand;
    if (!several(hand)) return hand;
    Eyes my_eyes = eyes(theirs), their_eyes = eyes(mine);
    int mine_now = worth(&my_eyes, mine), theirs_now = worth(&their_eyes, theirs);
    for (Pile left = hand; left; left &= left - 1) {
        Pile card = lowest(left), month = month_of[place(card)];
        Pile kept = hand & month & ~card, open_yet = month & ~(mine | theirs | kept | card);
        int value = 0;
        if (open_yet) value -= T.exposure * (worth(&their_eyes, theirs | card | open_yet) - theirs_now);
        if (kept) value += T.kept * (worth(&my_eyes, mine | card | kept) - mine_now);
        if (value > best) {
            best = value;
            best_card = card;
        }
    }
    return best_card;
}

static void quick_play(const Deal *deal, Pile *best_card, Pile *best_take) {
    int seat = (int)deal->turn, best = -1, captures = 0;
    Pile mine = deal->piles[seat], theirs = deal->piles[1 - seat], moves[MOST_ACTIONS][2];
    for (Pile left = deal->hands[seat]; left; left &= left - 1) {
        Pile card = lowest(left), found = deal->layout & month_of[place(card)];
        if (!found) continue;
        if (count(found) == 2) {
            moves[captures][0] = card;
            moves[captures++][1] = lowest(found);
            found &= found - 1;
        }
        moves[captures][0] = card;
        moves[captures++][1] = found;
    }
    *best_card = captures ? moves[0][0] : quick_discard(deal);
    *best_take = captures ? moves[0][1] : 0;
    if (captures < 2) return;
    Eyes my_eyes = eyes(theirs), their_eyes = eyes(mine);
    for (int index = 0; index < captures; index++) {
        Pile card = moves[index][0], take = moves[index][1];
        int value = T.capture * worth(&my_eyes, mine | card | take) + T.denial * worth(&their_eyes, theirs | take);
        if (several(take)) value += T.junk * (deal->ppuk_stacks[seat] & take ? 2 : 1); /* G10 */
        if (value > best) {
            best = value;
            *best_card = card;
            *best_take = take;
        }
    }
}

static Pile quick_choice(const Deal *deal) {
    int seat = (int)deal->turn;
    Pile mine = deal->piles[seat] | deal->revealed, theirs = deal->piles[1 - seat];
    if (deal->matched) mine |= deal->card | deal->matched;
    Eyes my_eyes = eyes(theirs), their_eyes = eyes(mine);
    Pile found = deal->layout & month_of[place(deal->revealed)], first = lowest(found), second = found & (found - 1);
    int first_value = T.capture * worth(&my_eyes, mine | first) + T.denial * worth(&their_eyes, theirs | first);
    int second_value = T.capture * worth(&my_eyes, mine | second) + T.denial * worth(&their_eyes, theirs | second);
    return first_value >= second_value ? first : second;
}

static bool quick_go(const Deal *deal) {
    int seat = (int)deal->turn;
    Pile hand = deal->hands[seat], mine = deal->piles[seat], theirs = deal->piles[1 - seat];
    if (!hand) return false; /* G16 */
    Pile open_yet = ALL & ~(mine | theirs | hand);
    int now = points(theirs), first = 0, second = 0;
    for (int number = 0; number < MONTHS; number++) {
        if (!(deal->layout & month_cards[number])) continue;
        int rise = points(theirs | (open_yet & month_cards[number])) - now;
        if (rise > first) {
            second = first;
            first = rise;
        } else if (rise > second) {
            second = rise;
        }
    }
    int row = larger(7, (int)deal->go_points[1 - seat] + 1) - now - first - second + 3;
    int64_t risk = T.risk[row < 0 ? 0 : row < RISKS ? row : RISKS - 1];
    int64_t now_paid = paid(deal), goes = deal->goes[seat], score = points(mine);
    int64_t more = after_goes(score + T.rise, goes + 1) - after_goes(score, goes);
    int64_t lost = T.lost * deal->nagari_factor * (deal->go_bak ? 2 : 1);
    return (1000 - risk) * (now_paid + more) - risk * lost > 1000 * now_paid;
}

/* Plays the deal to its end: the points by which `me` is ahead then. */
static int64_t play_out(Deal *deal, int64_t me) {
    for (;;) {
        switch (deal->phase) {
        case PLAY: {
            Pile card = 0, take = 0;
            quick_play(deal, &card, &take);
            play(deal, card, take);
            break;
        }
        case CHOOSE:
            settle(deal, quick_choice(deal));
            break;
        case DECIDE:
            if (quick_go(deal)) {
                go(deal);
            } else {
                stop(deal);
            }
            break;
        default:
            return deal->turn == me ? deal->winnings : -deal->winnings;
        }
    }
}

/* Worlds --------------------------------------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state) { /* splitmix64 (Steele, Lea, Flood 2014) */
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static unsigned below(unsigned bound, uint64_t *state) { /* unbiased: the last partial run of values is drawn again */
    for (;;) {
        uint32_t drawn = (uint32_t)(draw(state) >> 32);
        if (drawn < UINT32_MAX - UINT32_MAX % bound) return drawn % bound;
    }
}

/* What the player whose turn it is cannot see: flat.Seen. */
typedef struct {
    Deal deal; /* without the other player's hand and the stock */
    Pile cards[CARDS], impossible[MONTHS];
    int hidden, held, rests;
} Seen;

/* flat.Seen.sample: gives the other player and the stock the unseen cards, but no impossible hand (G2). False if no
 * hand is possible, which no deal comes to: most are. */
static bool sample(Seen *seen, uint64_t *state) {
    Deal *world = &seen->deal;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        for (int last = seen->hidden - 1; last > 0; last--) {
            unsigned chosen = below((unsigned)last + 1, state);
            Pile kept = seen->cards[last];
            seen->cards[last] = seen->cards[chosen];
            seen->cards[chosen] = kept;
        }
        Pile hand = 0;
        for (int index = 0; index < seen->held; index++) hand |= seen->cards[index];
        bool fits = true;
        for (int rest = 0; rest < seen->rests; rest++) fits = fits && (seen->impossible[rest] & ~hand);
        if (!fits) continue;
        world->hands[1 - world->turn] = hand;
        world->stock_left = seen->hidden - seen->held;
        memcpy(world->stock, seen->cards + seen->held, (size_t)world->stock_left * sizeof(Pile));
        return true;
    }
    return false;
}

/* What each move of the deal's player comes to, added to `sums`. */
static void try_moves(const Deal *deal, Pile moves[][2], int actions, int64_t sums[]) {
    for (int action = 0; action < actions; action++) {
        Deal copy = *deal;
        apply(&copy, moves[action][0], moves[action][1]);
        sums[action] += play_out(&copy, deal->turn);
    }
}

/* Reading what Python gives. Whatever the bytes are, nothing that passes can make the code above leave its arrays or
 * run for ever; that the cards make a deal is for the caller to know. --------------------------------------------- */

static bool within(int64_t number, int64_t least, int64_t most) { return number >= least && number <= most; }
static bool one_card(Pile card) { return card && !several(card) && !(card & ~ALL); }

static bool sound(const Deal *deal) {
    bool right = within(deal->turn, 0, 1) && within(deal->phase, PLAY, OVER) && within(deal->winnings, 0, INT32_MAX) &&
                 within(deal->go_bak, 0, 1) && within(deal->nagari_factor, 1, 8) && within(deal->broad_sseul, 0, 1) &&
                 within(deal->few_lowest, 0, MOST_UNITS) && within(deal->few_highest, 0, MOST_UNITS) &&
                 within(deal->stock_left, 0, STOCK);
    if (!right || (deal->layout | deal->card | deal->matched | deal->revealed) & ~ALL) return false;
    for (int seat = 0; seat < 2; seat++) {
        if ((deal->hands[seat] | deal->piles[seat] | deal->ppuk_stacks[seat]) & ~ALL) return false;
        if (count(deal->hands[seat]) > HAND || !within(deal->ppuks[seat], 0, 3)) return false;
        if (!within(deal->goes[seat], 0, MOST_GOES) || !within(deal->go_points[seat], 0, MOST_POINTS)) return false;
    }
    for (int index = 0; index < deal->stock_left; index++) {
        if (!one_card(deal->stock[index])) return false;
    }
    return deal->phase != CHOOSE || (one_card(deal->card) && one_card(deal->revealed));
}

/* Whether there is a stock card for every hand card, and every move is legal. */
static bool playable(const Deal *deal, Pile moves[][2], int actions) {
    Pile open_moves[MOST_ACTIONS][2];
    int open_count = legal(deal, open_moves);
    if (deal->stock_left != count(deal->hands[0]) + count(deal->hands[1])) return false;
    for (int action = 0; action < actions; action++) {
        bool found = false;
        for (int index = 0; index < open_count; index++) {
            found = found || (moves[action][0] == open_moves[index][0] && moves[action][1] == open_moves[index][1]);
        }
        if (!found) return false;
    }
    return true;
}

/* Python's door -------------------------------------------------------------------------------------------------- */

/* A borrowed bytes object: where it lies and how long it is. */
typedef struct {
    const char *bytes;
    Py_ssize_t length;
} Given;

static bool refuse(const char *what) {
    PyErr_Format(PyExc_ValueError, "not %s", what);
    return false;
}

static bool read_deal(Given given, Deal *deal) {
    if (!configured) return refuse("configured");
    if (given.length != (Py_ssize_t)sizeof(Deal)) return refuse("a deal");
    memcpy(deal, given.bytes, sizeof(Deal));
    return sound(deal) || refuse("a deal");
}

/* Reads words of eight bytes, `group` of them to an item; says how many items they are, or -1. */
static int read_words(Given given, Pile *words, int most, int group, const char *what) {
    Py_ssize_t size = (Py_ssize_t)sizeof(Pile) * group;
    if (given.length % size || given.length / size > most) {
        refuse(what);
        return -1;
    }
    memcpy(words, given.bytes, (size_t)given.length);
    return (int)(given.length / size);
}

static bool read_seen(Given deal, Given unseen, int held, Given impossible, Seen *seen) {
    if (!read_deal(deal, &seen->deal)) return false;
    seen->held = held;
    seen->hidden = read_words(unseen, seen->cards, CARDS, 1, "unseen cards");
    seen->rests = seen->hidden < 0 ? -1 : read_words(impossible, seen->impossible, MONTHS, 1, "months");
    if (seen->rests < 0) return false;
    bool right = within(held, 0, HAND) && seen->hidden - held == held + count(seen->deal.hands[seen->deal.turn]);
    for (int index = 0; index < seen->hidden; index++) right = right && one_card(seen->cards[index]);
    return right || refuse("what a seat cannot see");
}

static PyObject *tuple_of(const int64_t *numbers, int length) {
    PyObject *made = PyTuple_New(length);
    for (int index = 0; made != NULL && index < length; index++) {
        PyObject *number = PyLong_FromLongLong(numbers[index]);
        if (number == NULL || PyTuple_SetItem(made, index, number) < 0) Py_CLEAR(made);
    }
    return made;
}

static PyObject *py_configure(PyObject *module, PyObject *args) {
    Given given;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#", &given.bytes, &given.length)) return NULL;
    bool right = given.length == (Py_ssize_t)sizeof(T);
    if (right) memcpy(&T, given.bytes, sizeof(T));
    memset(month_cards, 0, sizeof(month_cards));
    for (int card = 0; right && card < CARDS; card++) {
        right = within(T.month_of[card], 0, MONTHS - 1);
        if (right) month_cards[T.month_of[card]] |= (Pile)1 << card;
    }
    for (int animals = 0; right && animals < 512; animals++) right = within(T.broken_animals[animals], 0, 1);
    for (int ribbons = 0; right && ribbons < 1024; ribbons++) right = within(T.broken_ribbons[ribbons], 0, 7);
    configured = right;
    if (!right) {
        refuse("the tables");
        return NULL;
    }
    for (int card = 0; card < CARDS; card++) month_of[card] = month_cards[T.month_of[card]];
    for (unsigned junk = 0; junk < 4096; junk++) {
        low_units[junk] = (uint8_t)count(junk);
        high_units[junk] = (uint8_t)(count(junk) + count(junk >> (DOUBLE_SHIFT - JUNK_SHIFT - 12)));
    }
    Py_RETURN_NONE;
}

static PyObject *py_legal(PyObject *module, PyObject *args) {
    Given given;
    Deal deal;
    Pile moves[MOST_ACTIONS][2];
    (void)module;
    if (!PyArg_ParseTuple(args, "y#", &given.bytes, &given.length) || !read_deal(given, &deal)) return NULL;
    int found = legal(&deal, moves);
    return PyBytes_FromStringAndSize((const char *)moves, (Py_ssize_t)((size_t)found * sizeof(moves[0])));
}

static PyObject *py_apply(PyObject *module, PyObject *args) {
    Given given;
    unsigned long long card, taken;
    Deal deal;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#KK", &given.bytes, &given.length, &card, &taken) || !read_deal(given, &deal))
        return NULL;
    Pile moves[1][2] = {{card, taken}};
    if (!playable(&deal, moves, 1)) {
        refuse("legal");
        return NULL;
    }
    apply(&deal, card, taken);
    return PyBytes_FromStringAndSize((const char *)&deal, (Py_ssize_t)sizeof(deal));
}

static PyObject *py_outcomes(PyObject *module, PyObject *args) {
    Given given, moves;
    Deal world;
    Pile tried[MOST_ACTIONS][2];
    int64_t sums[MOST_ACTIONS] = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#", &given.bytes, &given.length, &moves.bytes, &moves.length) ||
        !read_deal(given, &world))
        return NULL;
    int actions = read_words(moves, tried[0], MOST_ACTIONS, 2, "moves");
    if (actions < 0) return NULL;
    if (!playable(&world, tried, actions)) {
        refuse("legal");
        return NULL;
    }
    try_moves(&world, tried, actions, sums);
    return tuple_of(sums, actions);
}

static PyObject *py_sample(PyObject *module, PyObject *args) {
    Given deal, unseen, impossible;
    unsigned long long seed;
    int held;
    Seen seen;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#iy#K", &deal.bytes, &deal.length, &unseen.bytes, &unseen.length, &held,
                          &impossible.bytes, &impossible.length, &seed) ||
        !read_seen(deal, unseen, held, impossible, &seen))
        return NULL;
    uint64_t state = seed;
    if (!sample(&seen, &state)) {
        refuse("possible");
        return NULL;
    }
    return PyBytes_FromStringAndSize((const char *)&seen.deal, (Py_ssize_t)sizeof(seen.deal));
}

static PyObject *py_evaluate(PyObject *module, PyObject *args) {
    Given deal, unseen, impossible, moves;
    unsigned long long seed;
    Seen seen;
    Pile tried[MOST_ACTIONS][2];
    int64_t sums[MOST_ACTIONS] = {0};
    int held, worlds;
    bool right = true;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#iy#y#Ki", &deal.bytes, &deal.length, &unseen.bytes, &unseen.length, &held,
                          &impossible.bytes, &impossible.length, &moves.bytes, &moves.length, &seed, &worlds) ||
        !read_seen(deal, unseen, held, impossible, &seen))
        return NULL;
    int actions = within(worlds, 0, MOST_WORLDS) ? read_words(moves, tried[0], MOST_ACTIONS, 2, "moves") : -1;
    if (actions < 0) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "not a number of worlds");
    Py_BEGIN_ALLOW_THREADS;
    uint64_t state = seed;
    for (int world = 0; right && world < worlds; world++) {
        /* What is legal is the same in every world. */
        right = sample(&seen, &state) && (world > 0 || playable(&seen.deal, tried, actions));
        if (right) try_moves(&seen.deal, tried, actions, sums);
    }
    Py_END_ALLOW_THREADS;
    if (!right) {
        refuse("legal, or not possible");
        return NULL;
    }
    return tuple_of(sums, actions);
}

static PyMethodDef methods[] = {
    {"configure", py_configure, METH_VARARGS, "configure(tables): takes flat.py's and playout.py's tables and weights."},
    {"legal", py_legal, METH_VARARGS, "legal(deal) -> the moves that are open, two eight-byte words each."},
    {"apply", py_apply, METH_VARARGS, "apply(deal, card, taken) -> the deal after a legal move."},
    {"outcomes", py_outcomes, METH_VARARGS, "outcomes(deal, moves) -> what each move comes to, played out."},
    {"sample", py_sample, METH_VARARGS, "sample(deal, unseen, held, impossible, seed) -> a world."},
    {"evaluate", py_evaluate, METH_VARARGS,
     "evaluate(deal, unseen, held, impossible, moves, seed, worlds) -> each move's points, summed over the worlds."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "The compiled search of go-stop.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModule_Create(&definition); }
