/* Koi-koi for search, compiled: positions as bytes, one step of the rules, and playouts.
 *
 * An optional twin of flat.py and playouts.py, to the last digit: same positions, same moves, same policy, so that a
 * search finds the same with either. It never decides what is legal at a table or what a deal scores; tests hold it
 * against the exact rules. It knows no yaku either: what piles are worth comes in as tables, made from scoring.py.
 *
 * Bytes come from our own code, but nothing here relies on their making sense: whatever they are, no function reads
 * or writes out of bounds or fails to end.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define CARDS 48
#define STOCK 24
#define MAX_MOVES 16 /* eight hand cards, two targets each */
#define NOTHING 0xFF /* no card */

/* How cards are numbered (worths.py): five brights, nine animals, ten ribbons, twenty-four plains. */
#define LOW 0x3F /* brights and the sake cup */
#define ANIMAL_SHIFT 5
#define ANIMAL_MASK 0x1FF
#define TRIPLE_SHIFT 6 /* boar, deer, butterfly */
#define RIBBON_SHIFT 14
#define RIBBON_MASK 0x3FF
#define PLAINS (0xFFFFFFULL << 24 | 1ULL << 5) /* the sake cup is one */

enum { PLAY, CHOOSE, DECIDE, OVER };
enum { SEVEN_DOUBLES = 1, CALL_DOUBLES = 2, ONE_CALL = 4 };
enum { STOP_MOVE = 48, KOI_MOVE = 49 }; /* stand where a move names its card */

/* What piles are worth, laid out as Worths.packed has it (worths.py). */
typedef struct {
    uint64_t months[CARDS]; /* for each card all four cards of its month */
    int16_t total_low[64], total_animal[512], total_ribbon[1024], total_plain[26];
    int16_t total_beside[64];
    int16_t worth_low[64][64], worth_animal[8][512], worth_ribbon[4][1024], worth_plain[26];
    int16_t reach[4]; /* of 256, by how many cards of the month are out of sight */
    int16_t deny, gift, loss; /* of 256 */
} Tables;

typedef struct {
    uint64_t hand[2], board, pile[2];
    int16_t score[2];
    uint8_t total[2], calls[2], turn, phase, turned, flags;
    uint8_t top, size, stock[STOCK];
} Deal;

typedef struct {
    uint8_t card, take;
} Move;

#define POSITION_BYTES (5 * 8 + 2 * 2 + 9 + STOCK)

static int popcount(uint64_t mask) { return __builtin_popcountll(mask); }
static int lowest(uint64_t mask) { return __builtin_ctzll(mask); }
static uint64_t bit(int card) { return 1ULL << card; }

/* What piles are worth ------------------------------------------------------------------------------------------ */

static int total(const Tables *t, uint64_t pile)
{
    int points = t->total_low[pile & LOW] + t->total_animal[pile >> ANIMAL_SHIFT & ANIMAL_MASK]
        + t->total_ribbon[pile >> RIBBON_SHIFT & RIBBON_MASK] + t->total_plain[popcount(pile & PLAINS)];
    return points ? points + t->total_beside[pile & LOW] : 0;
}

static int worth(const Tables *t, uint64_t pile, uint64_t theirs)
{
    unsigned broken = ((theirs >> RIBBON_SHIFT & 7) != 0) | ((theirs >> (RIBBON_SHIFT + 3) & 7) != 0) << 1;
    return t->worth_low[theirs & LOW][pile & LOW]
        + t->worth_animal[theirs >> TRIPLE_SHIFT & 7][pile >> ANIMAL_SHIFT & ANIMAL_MASK]
        + t->worth_ribbon[broken][pile >> RIBBON_SHIFT & RIBBON_MASK] + t->worth_plain[popcount(pile & PLAINS)];
}

/* The course of a deal ------------------------------------------------------------------------------------------ */

static int legal(const Deal *d, const Tables *t, Move *moves)
{
    int found = 0;
    uint64_t targets;
    switch (d->phase) {
    case PLAY:
        for (uint64_t hand = d->hand[d->turn]; hand && found + 2 <= MAX_MOVES; hand &= hand - 1) {
            uint8_t card = (uint8_t)lowest(hand);
            targets = t->months[card] & d->board;
            if (popcount(targets) == 2) {
                moves[found++] = (Move){card, (uint8_t)lowest(targets)};
                moves[found++] = (Move){card, (uint8_t)lowest(targets & (targets - 1))};
            } else {
                moves[found++] = (Move){card, NOTHING};
            }
        }
        break;
    case CHOOSE:
        for (targets = t->months[d->turned] & d->board; targets && found < MAX_MOVES; targets &= targets - 1)
            moves[found++] = (Move){NOTHING, (uint8_t)lowest(targets)};
        break;
    case DECIDE:
        if (d->hand[d->turn] && !(d->flags & ONE_CALL && d->calls[d->turn]))
            moves[found++] = (Move){KOI_MOVE, NOTHING};
        moves[found++] = (Move){STOP_MOVE, NOTHING};
        break;
    }
    return found;
}

static void lay(Deal *d, int card, uint64_t taken)
{
    if (taken) {
        d->board &= ~taken;
        d->pile[d->turn] |= taken | bit(card);
    } else {
        d->board |= bit(card);
    }
}

static void end_turn(Deal *d, const Tables *t)
{
    int now = total(t, d->pile[d->turn]);
    if (now > d->total[d->turn]) {
        d->total[d->turn] = (uint8_t)now;
        d->phase = DECIDE;
    } else {
        d->turn ^= 1;
        d->phase = d->hand[0] | d->hand[1] ? PLAY : OVER;
    }
}

static void play(Deal *d, const Tables *t, int card, uint64_t taken)
{
    d->hand[d->turn] &= ~bit(card);
    lay(d, card, taken);
    if (d->top >= d->size) {
        d->phase = OVER; /* no position of a deal: there is a stock card for every hand card */
        return;
    }
    int turned = d->stock[d->top++];
    uint64_t targets = t->months[turned] & d->board;
    if (popcount(targets) == 2) {
        d->turned = (uint8_t)turned;
        d->phase = CHOOSE;
        return;
    }
    lay(d, turned, targets);
    end_turn(d, t);
}

static void choose(Deal *d, const Tables *t, uint64_t taken)
{
    lay(d, d->turned, taken);
    d->turned = NOTHING;
    end_turn(d, t);
}

static void stop(Deal *d)
{
    int points = d->total[d->turn];
    int doublings = (d->flags & SEVEN_DOUBLES && points >= 7) + (d->flags & CALL_DOUBLES && d->calls[d->turn ^ 1]);
    d->score[d->turn] = (int16_t)(points << doublings);
    d->phase = OVER;
}

static void call_koi(Deal *d)
{
    d->calls[d->turn]++;
    d->turn ^= 1;
    d->phase = PLAY;
}

/* Performs the move if it is legal; returns whether it was. */
static int apply(Deal *d, const Tables *t, Move move)
{
    Move moves[MAX_MOVES];
    int count = legal(d, t, moves), known = 0;
    for (int i = 0; i < count; i++)
        known |= moves[i].card == move.card && moves[i].take == move.take;
    if (!known)
        return 0;
    if (d->phase == PLAY)
        play(d, t, move.card, move.take == NOTHING ? t->months[move.card] & d->board : bit(move.take));
    else if (d->phase == CHOOSE)
        choose(d, t, bit(move.take));
    else if (move.card == STOP_MOVE)
        stop(d);
    else
        call_koi(d);
    return 1;
}

/* The policy of playouts ---------------------------------------------------------------------------------------- */

/* What each card would bring each player at the root: what it is worth to deny, and what laying it down gives away.
 * Taken as the same throughout a playout. */
typedef struct {
    int16_t card[2][CARDS];
} Stakes;

static void assess(Stakes *s, const Deal *d, const Tables *t)
{
    for (int seat = 0; seat < 2; seat++) {
        uint64_t mine = d->pile[seat], theirs = d->pile[seat ^ 1];
        int now = worth(t, mine, theirs);
        for (int card = 0; card < CARDS; card++)
            s->card[seat][card] = (int16_t)(worth(t, mine | bit(card), theirs) - now);
    }
}

/* How likely the other player can take from the board a card of this one's month, of 256. */
static int reach(const Deal *d, const Tables *t, int card)
{
    uint64_t seen = d->hand[d->turn] | d->board | d->pile[0] | d->pile[1] | bit(card);
    return t->reach[popcount(t->months[card] & ~seen) & 3];
}

static int capture_value(const Deal *d, const Tables *t, const Stakes *s, int card, uint64_t taken)
{
    int me = d->turn, denied = 0;
    for (uint64_t rest = taken; rest; rest &= rest - 1)
        denied += s->card[me ^ 1][lowest(rest)];
    return worth(t, d->pile[me] | bit(card) | taken, d->pile[me ^ 1])
        + (int)((int64_t)denied * t->deny * reach(d, t, card) >> 16);
}

static int lay_value(const Deal *d, const Tables *t, const Stakes *s, int card)
{
    int given = s->card[d->turn ^ 1][card] * t->gift + s->card[d->turn][card] * t->loss;
    return worth(t, d->pile[d->turn], d->pile[d->turn ^ 1]) - (int)((int64_t)given * reach(d, t, card) >> 16);
}

static void policy_play(Deal *d, const Tables *t, const Stakes *s)
{
    int best = INT32_MIN, best_card = 0;
    uint64_t best_taken = 0;
    for (uint64_t hand = d->hand[d->turn]; hand; hand &= hand - 1) {
        int card = lowest(hand);
        uint64_t targets = t->months[card] & d->board;
        if (popcount(targets) == 2) {
            for (uint64_t rest = targets; rest; rest &= rest - 1) {
                uint64_t taken = rest & -rest;
                int value = capture_value(d, t, s, card, taken);
                if (value > best)
                    best = value, best_card = card, best_taken = taken;
            }
            continue;
        }
        int value = targets ? capture_value(d, t, s, card, targets) : lay_value(d, t, s, card);
        if (value > best)
            best = value, best_card = card, best_taken = targets;
    }
    play(d, t, best_card, best_taken);
}

static void policy_choose(Deal *d, const Tables *t, const Stakes *s)
{
    uint64_t targets = t->months[d->turned] & d->board;
    uint64_t one = targets & -targets, two = targets ^ one;
    int better = capture_value(d, t, s, d->turned, two) > capture_value(d, t, s, d->turned, one);
    choose(d, t, better ? two : one);
}

static void playout(Deal *d, const Tables *t, const Stakes *s)
{
    while (d->phase != OVER) {
        if (d->phase == PLAY)
            if (d->hand[d->turn])
                policy_play(d, t, s);
            else
                d->phase = OVER; /* no position of a deal */
        else if (d->phase == CHOOSE)
            policy_choose(d, t, s);
        else
            stop(d);
    }
}

/* Bytes --------------------------------------------------------------------------------------------------------- */

static int read_position(Deal *d, const uint8_t *b, Py_ssize_t length)
{
    if (length != POSITION_BYTES)
        return 0;
    memset(d, 0, sizeof *d);
    memcpy(d->hand, b, 16), memcpy(&d->board, b + 16, 8), memcpy(d->pile, b + 24, 16), memcpy(d->score, b + 40, 4);
    memcpy(d->total, b + 44, 2), memcpy(d->calls, b + 46, 2);
    d->turn = b[48], d->phase = b[49], d->turned = b[50], d->flags = b[51], d->size = b[52];
    memcpy(d->stock, b + 53, STOCK);
    if (d->turn > 1 || d->phase > OVER || d->size > STOCK)
        return 0;
    if ((d->hand[0] | d->hand[1] | d->board | d->pile[0] | d->pile[1]) >> CARDS)
        return 0;
    if (d->phase == CHOOSE ? d->turned >= CARDS : d->turned != NOTHING)
        return 0;
    if (popcount(d->hand[0]) > 8 || popcount(d->hand[1]) > 8)
        return 0;
    return 1;
}

static int stock_is_known(const Deal *d)
{
    for (int i = 0; i < d->size; i++)
        if (d->stock[i] >= CARDS)
            return 0;
    return 1;
}

static void write_position(const Deal *d, uint8_t *b)
{
    int left = d->size - d->top;
    memcpy(b, d->hand, 16), memcpy(b + 16, &d->board, 8), memcpy(b + 24, d->pile, 16), memcpy(b + 40, d->score, 4);
    memcpy(b + 44, d->total, 2), memcpy(b + 46, d->calls, 2);
    b[48] = d->turn, b[49] = d->phase, b[50] = d->turned, b[51] = d->flags, b[52] = (uint8_t)left;
    memset(b + 53, NOTHING, STOCK);
    memcpy(b + 53, d->stock + d->top, (size_t)left);
}

/* Gives the hidden cards to who holds them: first the other player's, then the stock. */
static int fill_in(Deal *d, const uint8_t *hidden, Py_ssize_t count)
{
    Py_ssize_t held = count - d->size;
    if (held < 0 || held > 8 || d->hand[d->turn ^ 1])
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (hidden[i] >= CARDS)
            return 0;
    for (Py_ssize_t i = 0; i < held; i++)
        d->hand[d->turn ^ 1] |= bit(hidden[i]);
    memcpy(d->stock, hidden + held, d->size);
    return 1;
}

/* Python -------------------------------------------------------------------------------------------------------- */

static const Tables *read_tables(const char *bytes, Py_ssize_t length)
{
    if (length != (Py_ssize_t)sizeof(Tables) || (uintptr_t)bytes % _Alignof(Tables)) {
        PyErr_SetString(PyExc_ValueError, "not the tables of a game");
        return NULL;
    }
    return (const Tables *)bytes;
}

static PyObject *refuse(const char *why)
{
    PyErr_SetString(PyExc_ValueError, why);
    return NULL;
}

static PyObject *kernel_legal(PyObject *self, PyObject *args)
{
    (void)self;
    const char *bytes, *position;
    Py_ssize_t size, length;
    Deal d;
    Move moves[MAX_MOVES];
    if (!PyArg_ParseTuple(args, "y#y#", &bytes, &size, &position, &length))
        return NULL;
    const Tables *t = read_tables(bytes, size);
    if (t == NULL)
        return NULL;
    if (!read_position(&d, (const uint8_t *)position, length))
        return refuse("not a position");
    int count = legal(&d, t, moves);
    return PyBytes_FromStringAndSize((const char *)moves, count * (Py_ssize_t)sizeof(Move));
}

static PyObject *kernel_apply(PyObject *self, PyObject *args)
{
    (void)self;
    const char *bytes, *position, *move;
    Py_ssize_t size, length, count;
    Deal d;
    uint8_t after[POSITION_BYTES];
    if (!PyArg_ParseTuple(args, "y#y#y#", &bytes, &size, &position, &length, &move, &count))
        return NULL;
    const Tables *t = read_tables(bytes, size);
    if (t == NULL)
        return NULL;
    if (!read_position(&d, (const uint8_t *)position, length) || !stock_is_known(&d)
        || count != (Py_ssize_t)sizeof(Move))
        return refuse("not a position and a move");
    if (!apply(&d, t, (Move){(uint8_t)move[0], (uint8_t)move[1]}))
        return refuse("not a legal move");
    write_position(&d, after);
    return PyBytes_FromStringAndSize((const char *)after, POSITION_BYTES);
}

static PyObject *kernel_playouts(PyObject *self, PyObject *args)
{
    (void)self;
    const char *bytes, *position, *hidden, *moves;
    Py_ssize_t size, length, cards, count;
    Deal root;
    int margins[MAX_MOVES];
    if (!PyArg_ParseTuple(
            args, "y#y#y#y#", &bytes, &size, &position, &length, &hidden, &cards, &moves, &count))
        return NULL;
    const Tables *t = read_tables(bytes, size);
    if (t == NULL)
        return NULL;
    count /= (Py_ssize_t)sizeof(Move);
    if (!read_position(&root, (const uint8_t *)position, length) || count > MAX_MOVES
        || !fill_in(&root, (const uint8_t *)hidden, cards))
        return refuse("not a position, its hidden cards and moves");
    int me = root.turn, failed = 0;
    Stakes stakes;
    Py_BEGIN_ALLOW_THREADS
    assess(&stakes, &root, t);
    for (Py_ssize_t i = 0; i < count; i++) {
        Deal d = root;
        failed |= !apply(&d, t, (Move){(uint8_t)moves[2 * i], (uint8_t)moves[2 * i + 1]});
        playout(&d, t, &stakes);
        margins[i] = d.score[me] - d.score[me ^ 1];
    }
    Py_END_ALLOW_THREADS
    if (failed)
        return refuse("not a legal move");
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *margin = PyLong_FromLong(margins[i]);
        if (margin == NULL || PyList_SetItem(list, i, margin) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"legal", kernel_legal, METH_VARARGS, "legal(tables, position): the moves there are, one after another."},
    {"apply", kernel_apply, METH_VARARGS, "apply(tables, position, move): the position after a legal move."},
    {"playouts", kernel_playouts, METH_VARARGS,
        "playouts(tables, position, hidden, moves): what each of the moves (one after another, at most 16) comes to."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, 0, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModule_Create(&module);
}
