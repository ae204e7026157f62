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

enum { CARDS = 48, MONTHS = 12, STOCK = 20, RISKS = 9, MOST_ACTIONS = 32, MOST_UNITS = 28 };
enum { PLAY, CHOOSE, DECIDE, OVER }; /* kernel.PHASES */
enum { ANIMAL_SHIFT = 5, RIBBON_SHIFT = 14, JUNK_SHIFT = 24, DOUBLE_SHIFT = 46 };

#define BRIGHTS(pile) ((pile)&0x1F)
#define ANIMALS(pile) ((pile) >> ANIMAL_SHIFT & 0x1FF)
#define RIBBONS(pile) ((pile) >> RIBBON_SHIFT & 0x3FF)
#define CUP ((Pile)1 << 11)
#define ALL (((Pile)1 << CARDS) - 1)

/* Tables and weights, in the order of kernel.py's _TABLES. Written once, before any search. */
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
    deal->turn = 1 - seat;
    deal->phase = PLAY;
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

/* flat.Seen.sample: gives the rival and the stock the unseen cards, but no impossible hand (G2). */
static void sample(Deal *world, Pile *unseen, int hidden, int held, const Pile *impossible, int rests, uint64_t *state) {
    int rival = 1 - (int)world->turn;
    for (bool fits = false; !fits;) {
        for (int last = hidden - 1; last > 0; last--) {
            unsigned chosen = below((unsigned)last + 1, state);
            Pile kept = unseen[last];
            unseen[last] = unseen[chosen];
            unseen[chosen] = kept;
        }
        Pile hand = 0;
        for (int index = 0; index < held; index++) hand |= unseen[index];
        world->hands[rival] = hand;
        fits = true;
        for (int rest = 0; rest < rests; rest++) fits = fits && (impossible[rest] & ~hand);
    }
    world->stock_left = hidden - held;
    memcpy(world->stock, unseen + held, (size_t)(hidden - held) * sizeof(Pile));
}

/* Python's door -------------------------------------------------------------------------------------------------- */

static bool read_deal(const char *bytes, Py_ssize_t length, Deal *deal) {
    if (!configured || length != (Py_ssize_t)sizeof(Deal)) {
        PyErr_SetString(PyExc_ValueError, configured ? "not a deal" : "configure() comes first");
        return false;
    }
    memcpy(deal, bytes, sizeof(Deal));
    if ((deal->turn != 0 && deal->turn != 1) || deal->phase < PLAY || deal->phase > OVER || deal->stock_left < 0 ||
        deal->stock_left > STOCK) {
        PyErr_SetString(PyExc_ValueError, "not a deal");
        return false;
    }
    return true;
}

static PyObject *py_configure(PyObject *module, PyObject *args) {
    const char *bytes;
    Py_ssize_t length;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#", &bytes, &length)) return NULL;
    if (length != (Py_ssize_t)sizeof(T)) {
        PyErr_Format(PyExc_ValueError, "tables of %zd bytes, not %zd", (Py_ssize_t)sizeof(T), length);
        return NULL;
    }
    memcpy(&T, bytes, sizeof(T));
    memset(month_cards, 0, sizeof(month_cards));
    for (int card = 0; card < CARDS; card++) month_cards[T.month_of[card]] |= (Pile)1 << card;
    for (int card = 0; card < CARDS; card++) month_of[card] = month_cards[T.month_of[card]];
    for (unsigned junk = 0; junk < 4096; junk++) {
        low_units[junk] = (uint8_t)count(junk);
        high_units[junk] = (uint8_t)(count(junk) + count(junk >> (DOUBLE_SHIFT - JUNK_SHIFT - 12)));
    }
    configured = true;
    Py_RETURN_NONE;
}

static PyObject *py_legal(PyObject *module, PyObject *args) {
    const char *bytes;
    Py_ssize_t length;
    Deal deal;
    Pile moves[MOST_ACTIONS][2];
    (void)module;
    if (!PyArg_ParseTuple(args, "y#", &bytes, &length) || !read_deal(bytes, length, &deal)) return NULL;
    int found = legal(&deal, moves);
    return PyBytes_FromStringAndSize((const char *)moves, (Py_ssize_t)((size_t)found * sizeof(moves[0])));
}

static PyObject *py_apply(PyObject *module, PyObject *args) {
    const char *bytes;
    Py_ssize_t length;
    unsigned long long card, taken;
    Deal deal;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#KK", &bytes, &length, &card, &taken) || !read_deal(bytes, length, &deal)) return NULL;
    apply(&deal, card, taken);
    return PyBytes_FromStringAndSize((const char *)&deal, (Py_ssize_t)sizeof(deal));
}

static PyObject *tuple_of(const int64_t *numbers, int length) {
    PyObject *made = PyTuple_New(length);
    for (int index = 0; made != NULL && index < length; index++) {
        PyObject *number = PyLong_FromLongLong(numbers[index]);
        if (number == NULL || PyTuple_SetItem(made, index, number) < 0) Py_CLEAR(made);
    }
    return made;
}

/* What each move of the deal's player comes to. */
static void try_moves(const Deal *deal, Pile moves[][2], int actions, int64_t sums[]) {
    for (int action = 0; action < actions; action++) {
        Deal copy = *deal;
        apply(&copy, moves[action][0], moves[action][1]);
        sums[action] += play_out(&copy, deal->turn);
    }
}

static PyObject *py_outcomes(PyObject *module, PyObject *args) {
    const char *bytes, *moves;
    Py_ssize_t length, moves_length;
    Deal world;
    Pile tried[MOST_ACTIONS][2];
    int64_t sums[MOST_ACTIONS] = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#", &bytes, &length, &moves, &moves_length) || !read_deal(bytes, length, &world))
        return NULL;
    if ((size_t)moves_length > sizeof(tried)) {
        PyErr_SetString(PyExc_ValueError, "more moves than a deal can have");
        return NULL;
    }
    memcpy(tried, moves, (size_t)moves_length);
    int actions = (int)((size_t)moves_length / sizeof(tried[0]));
    try_moves(&world, tried, actions, sums);
    return tuple_of(sums, actions);
}

static PyObject *py_sample(PyObject *module, PyObject *args) {
    const char *bytes, *unseen, *impossible;
    Py_ssize_t length, unseen_length, impossible_length;
    unsigned long long seed;
    Deal world;
    Pile cards[CARDS], rests[MONTHS];
    int held;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#iy#K", &bytes, &length, &unseen, &unseen_length, &held, &impossible,
                          &impossible_length, &seed) ||
        !read_deal(bytes, length, &world))
        return NULL;
    if ((size_t)unseen_length > sizeof(cards) || (size_t)impossible_length > sizeof(rests) || held < 0 ||
        held > (int)((size_t)unseen_length / sizeof(Pile)) ||
        (int)((size_t)unseen_length / sizeof(Pile)) - held > STOCK) {
        PyErr_SetString(PyExc_ValueError, "not what a seat cannot see");
        return NULL;
    }
    memcpy(cards, unseen, (size_t)unseen_length);
    memcpy(rests, impossible, (size_t)impossible_length);
    uint64_t state = seed;
    sample(&world, cards, (int)((size_t)unseen_length / sizeof(Pile)), held, rests,
           (int)((size_t)impossible_length / sizeof(Pile)), &state);
    return PyBytes_FromStringAndSize((const char *)&world, (Py_ssize_t)sizeof(world));
}

static PyObject *py_evaluate(PyObject *module, PyObject *args) {
    const char *bytes, *unseen, *impossible, *moves;
    Py_ssize_t length, unseen_length, impossible_length, moves_length;
    unsigned long long seed;
    Deal position;
    Pile cards[CARDS], rests[MONTHS], tried[MOST_ACTIONS][2];
    int64_t sums[MOST_ACTIONS] = {0};
    int held, worlds;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#iy#y#Ki", &bytes, &length, &unseen, &unseen_length, &held, &impossible,
                          &impossible_length, &moves, &moves_length, &seed, &worlds) ||
        !read_deal(bytes, length, &position))
        return NULL;
    int hidden = (int)((size_t)unseen_length / sizeof(Pile)), actions = (int)((size_t)moves_length / sizeof(tried[0]));
    if ((size_t)unseen_length > sizeof(cards) || (size_t)impossible_length > sizeof(rests) ||
        (size_t)moves_length > sizeof(tried) || held < 0 || held > hidden || hidden - held > STOCK) {
        PyErr_SetString(PyExc_ValueError, "not what a seat cannot see");
        return NULL;
    }
    memcpy(cards, unseen, (size_t)unseen_length);
    memcpy(rests, impossible, (size_t)impossible_length);
    memcpy(tried, moves, (size_t)moves_length);
    Py_BEGIN_ALLOW_THREADS;
    uint64_t state = seed;
    for (int world = 0; world < worlds; world++) {
        sample(&position, cards, hidden, held, rests, (int)((size_t)impossible_length / sizeof(Pile)), &state);
        try_moves(&position, tried, actions, sums);
    }
    Py_END_ALLOW_THREADS;
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
