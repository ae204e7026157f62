// The little game that every peer serves: koi-koi's cards, hands and captures, without its yaku and decisions.
//
// Enough to give a move the weight it has in a real card game (48 cards, hidden hands, a stock nobody sees), and little
// enough that the figures are the framework's, not the rules'. socketio_server.py has the same rules in Python.

export const SEATS = 2;
const HAND = 8;
const CARDS = Array.from({ length: 48 }, (_, number) => `${String((number >> 2) + 1).padStart(2, "0")}${"abcd"[number % 4]}`);

/** Deal anew; `shuffled` gives a permutation of an array. The next to play is `first`. */
export function dealt(shuffled, first) {
  const deck = shuffled(CARDS);
  const cut = (from) => deck.slice(from, from + HAND);
  return { hands: [cut(0), cut(HAND)], board: cut(2 * HAND), stock: deck.slice(3 * HAND), captured: [[], []], turn: first };
}

/** What playing `card` onto `board` leaves there and takes away; `board` is not changed. */
export function laid(board, card) {
  const pairs = board.filter((other) => other.startsWith(card.slice(0, 2)));
  if (pairs.length === 0) return { board: [...board, card], taken: [] };
  const taken = pairs.length === 2 ? [pairs[0]] : pairs;
  return { board: board.filter((other) => !taken.includes(other)), taken: [card, ...taken] };
}

/** Play a hand card and turn up one of the stock: the new board, what was taken, and what was turned up. */
export function played(board, stock, card) {
  const first = laid(board, card);
  const drawn = stock[0];
  const second = laid(first.board, drawn);
  return { board: second.board, stock: stock.slice(1), taken: [...first.taken, ...second.taken], drawn };
}
