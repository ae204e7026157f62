/* The compiled rollouts of Hachinin Meri: flat.py, quick.py, ahead.py and seen.py once more, for speed
 * and for nothing else.
 *
 * It never decides what is legal or what a deal scores: it estimates. Tests hold it to the rules (every legal set,
 * transition and score), to the Python rollouts (the same numbers) and to the Python worlds (the same distribution).
 * Numbers such as H20 are those of the rules.
 *
 * The quick player's tables arrive once through configure(). Needs GCC or Clang (bit builtins); Python's stable ABI from
 * 3.11.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "_deal.h"
#include "_quick.h"
#include "_ahead.h"
#include "_worlds.h"

enum { MOST_WORLDS = 1 << 20 };

static bool configured; /* whether T was written */

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
        if (deal->count && deal->down >> seat & 1 && (!played || deal->meri || seat == deal->leader)) return false; /* H17 */
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

/* The chances of a row rise to the full one, with which it ends; what follows a branch lies before its row, so that a
 * walk along the branches comes to its end. */
static bool sound_branches(const Branch *branches, int64_t count) {
    int64_t row = 0;
    for (int64_t at = 0; at < count; at++) {
        if (!within(branches[at].pile, 0, KINDS - 1) || !within(branches[at].taken, 0, PLACES)) return false;
        if (!within(branches[at].after, -1, row - 1)) return false;
        if (branches[at].up_to == UINT64_MAX) row = at + 1;
    }
    return row == count;
}

/* Every card once, and room for all of them. */
static bool sound_case(const Terms *terms, const Case *from, int64_t branches) {
    Pile found = {0, 0};
    int64_t cards = 0, places = 0;
    if (!within(from->root, -1, branches - 1) || !within(from->groups, 0, MOST_PLACES)) return false;
    for (int kind = 0; kind < KINDS; kind++) {
        if (!within(from->counts[kind], 0, PLACES - cards)) return false;
        cards += from->counts[kind];
    }
    for (int64_t at = 0; at < cards; at++) {
        int64_t card = from->cards[at];
        if (!within(card, 0, SHIFT + MOST_TRUMPS - 1)) return false;
        uint64_t *pile = card < SHIFT ? &found.plain : &found.trumps;
        uint64_t bit = (uint64_t)1 << (card < SHIFT ? card : card - SHIFT);
        if (*pile & bit) return false;
        *pile |= bit;
    }
    for (int64_t group = 0; group < from->groups; group++) {
        if (!within(from->group[group].places, 0, MOST_PLACES - places)) return false;
        places += from->group[group].places;
        for (int kind = 0; kind < KINDS; kind++) {
            if (!within(from->group[group].into[kind], 0, KINDS - 1)) return false;
        }
    }
    for (int64_t place = 0; place < places; place++) {
        if (!within(from->place[place].where, HANDS, SIDE) || !within(from->place[place].size, 0, cards)) return false;
        cards -= from->place[place].size;
    }
    return !cards && !(found.trumps & ~terms->trumps);
}

static bool read_sight(const Given given[4], Terms *terms, Sight *sight) {
    if (!configured) return refuse("configured");
    if (given[0].length != (Py_ssize_t)sizeof(Terms)) return refuse("terms");
    memcpy(terms, given[0].bytes, sizeof(Terms));
    if (!sound_terms(terms)) return refuse("terms");
    if (given[1].length != (Py_ssize_t)sizeof(Seen)) return refuse("what a seat sees");
    memcpy(&sight->seen, given[1].bytes, sizeof(Seen));
    if (!within(sight->seen.deal.taker, -1, SEATS - 1)) return refuse("what a seat sees");
    sight->case_count = given[2].length / (Py_ssize_t)sizeof(Case);
    sight->branch_count = given[3].length / (Py_ssize_t)sizeof(Branch);
    bool right = given[2].length % (Py_ssize_t)sizeof(Case) == 0 && given[3].length % (Py_ssize_t)sizeof(Branch) == 0 &&
                 !((uintptr_t)given[2].bytes % sizeof(uint64_t)) && !((uintptr_t)given[3].bytes % sizeof(uint64_t)) &&
                 within(sight->case_count, 1, MOST_CASES);
    if (!right) return refuse("worlds");
    sight->cases = (const Case *)(const void *)given[2].bytes;
    sight->branches = (const Branch *)(const void *)given[3].bytes;
    right = sound_branches(sight->branches, sight->branch_count);
    right = right && sight->cases[sight->case_count - 1].up_to == UINT64_MAX;
    for (int64_t at = 0; right && at < sight->case_count; at++) {
        right = sound_case(terms, sight->cases + at, sight->branch_count);
    }
    return right || refuse("worlds");
}

static PyObject *list_of(const int64_t *numbers, Py_ssize_t length) {
    PyObject *made = PyList_New(length);
    for (Py_ssize_t index = 0; made != NULL && index < length; index++) {
        PyObject *number = PyLong_FromLongLong(numbers[index]);
        if (number == NULL || PyList_SetItem(made, index, number) < 0) Py_CLEAR(made);
    }
    return made;
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
    int plain;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#i", &given_terms.bytes, &given_terms.length, &given.bytes, &given.length, &moves.bytes,
                          &moves.length, &plain) ||
        !read_deal(given_terms, given, &terms, &world) || !all_legal(&terms, &world, moves))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    try_moves(&terms, &world, (const uint8_t *)moves.bytes, (int)moves.length, plain & ALL_SEATS, found);
    Py_END_ALLOW_THREADS;
    return list_of(found, moves.length);
}

static PyObject *py_world(PyObject *module, PyObject *args) {
    Given given[4];
    unsigned long long seed;
    Terms terms;
    Sight sight;
    Deal world;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#y#K", &given[0].bytes, &given[0].length, &given[1].bytes, &given[1].length,
                          &given[2].bytes, &given[2].length, &given[3].bytes, &given[3].length, &seed) ||
        !read_sight(given, &terms, &sight))
        return NULL;
    uint64_t dice = seed;
    if (!draw(&terms, &sight, &world, &dice) || !sound_deal(&terms, &world)) {
        refuse("worlds of a deal");
        return NULL;
    }
    return PyBytes_FromStringAndSize((const char *)&world, (Py_ssize_t)sizeof(world));
}

static PyObject *py_evaluate(PyObject *module, PyObject *args) {
    Given given[4], moves;
    unsigned long long seed;
    Terms terms;
    Sight sight;
    Deal world;
    int64_t sums[MOST_MOVES] = {0};
    int worlds;
    bool right = true;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#y#y#y#Ki", &given[0].bytes, &given[0].length, &given[1].bytes, &given[1].length,
                          &given[2].bytes, &given[2].length, &given[3].bytes, &given[3].length, &moves.bytes,
                          &moves.length, &seed, &worlds) ||
        !read_sight(given, &terms, &sight))
        return NULL;
    uint64_t dice = seed;
    if (!within(worlds, 1, MOST_WORLDS)) return PyErr_Format(PyExc_ValueError, "not a number of worlds");
    right = draw(&terms, &sight, &world, &dice) && sound_deal(&terms, &world);
    if (!right) {
        refuse("worlds of a deal");
        return NULL;
    }
    if (!all_legal(&terms, &world, moves)) return NULL; /* what is legal is the same in every world */
    Py_BEGIN_ALLOW_THREADS;
    while (right) {
        try_moves(&terms, &world, (const uint8_t *)moves.bytes, (int)moves.length, plain_seats(next_number(&dice)),
                  sums);
        if (!--worlds) break;
        right = draw(&terms, &sight, &world, &dice) && sound_deal(&terms, &world);
    }
    Py_END_ALLOW_THREADS;
    if (!right) {
        refuse("worlds of a deal");
        return NULL;
    }
    return list_of(sums, moves.length);
}

static PyMethodDef methods[] = {
    {"configure", py_configure, METH_VARARGS, "configure(tables): takes quick.py's and ahead.py's tables."},
    {"legal", py_legal, METH_VARARGS, "legal(terms, deal) -> the moves that are open, a byte each."},
    {"apply", py_apply, METH_VARARGS, "apply(terms, deal, move) -> the deal after a legal move."},
    {"outcomes", py_outcomes, METH_VARARGS, "outcomes(terms, deal, moves, plain) -> what each move comes to, in thousandths of a point."},
    {"world", py_world, METH_VARARGS, "world(terms, seen, cases, branches, seed) -> a deal that a player may be in."},
    {"evaluate", py_evaluate, METH_VARARGS,
     "evaluate(terms, seen, cases, branches, moves, seed, worlds) -> the same, summed over worlds."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "The compiled rollouts of Hachinin Meri.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModule_Create(&definition); }
