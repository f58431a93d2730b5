"""A terminal in memory: what a program writes to it, as the text that a person reads, with all that scrolled away."""

import re
import unicodedata
from collections.abc import Callable

_TOKEN = re.compile(
    "\x1b\\[(?P<marks>[<=>?]?)(?P<numbers>[\\d;:]*)(?P<middle>[ -/]*)(?P<final>[@-~])"
    "|\x1b[\\]PX^_](?P<told>.*?)(?:\x07|\x1b\\\\)"
    "|\x1b(?P<plain>[ -/]*(?![\\[\\]PX^_])[0-~])"
    "|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
    "|(?P<text>[^\x00-\x1f\x7f]+)",
    re.DOTALL,
)
_TAB = 8
Cells = list[str]


class Screen:
    """Rows of cells, and a history of the rows that left at the top; a wide character is followed by an empty cell."""

    def __init__(self, rows: int = 50, columns: int = 200, answer: Callable[[bytes], None] = lambda _: None) -> None:
        self.rows, self.columns = rows, columns
        self.history: list[str] = []
        self._answer = answer  # to what the program asks of its terminal
        self._grid = self._blank()
        self._other: list[Cells] | None = None  # the first screen, while the second is shown
        self._row = self._column = 0
        self._saved = (0, 0)
        self._top, self._bottom = 0, rows - 1  # what scrolls
        self._rest = ""

    def _blank(self) -> list[Cells]:
        return [[" "] * self.columns for _ in range(self.rows)]

    def text(self) -> str:
        """Return what can be read, from the first row of the history to the last of the screen."""
        shown = ["".join(row).rstrip() for row in self._grid]
        return "\n".join([*self.history, *shown]).rstrip()

    def shown(self) -> str:
        """Return what stands on the screen now."""
        return "\n".join("".join(row).rstrip() for row in self._grid).rstrip()

    def feed(self, text: str) -> None:
        """Take what the program wrote; a sequence that is not whole yet waits for its end."""
        text, self._rest = self._rest + text, ""
        place = 0
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                self._rest = text[place:]
                return
            place = found.end()
            self._take(found)

    def _take(self, found: re.Match[str]) -> None:
        if found["text"] is not None:
            for character in found["text"]:
                self._put(character)
        elif found["control"] is not None:
            self._control(found["control"])
        elif found["final"] is not None:
            numbers = [int(each) if each.isdigit() else 0 for each in re.split("[;:]", found["numbers"])]
            self._sequence(found["marks"], numbers, found["final"] if not found["middle"] else "")
        elif found["told"] is not None:
            if found["told"].startswith(("10;?", "11;?")):
                self._answer(f"\x1b]{found['told'][:2]};rgb:0000/0000/0000\x1b\\".encode())
        else:
            self._plain(found["plain"])

    def _put(self, character: str) -> None:
        if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
            before = max(self._column - 1, 0)
            self._grid[self._row][before] += character
            return
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self._column + width > self.columns:
            self._column = 0
            self._down()
        row = self._grid[self._row]
        row[self._column] = character
        if width == 2:
            row[self._column + 1] = ""
        self._column += width

    def _control(self, control: str) -> None:
        if control == "\r":
            self._column = 0
        elif control in "\n\v\f":
            self._down()
        elif control == "\b":
            self._column = max(self._column - 1, 0)
        elif control == "\t":
            self._column = min((self._column // _TAB + 1) * _TAB, self.columns - 1)

    def _plain(self, code: str) -> None:
        if code == "7":
            self._saved = self._row, self._column
        elif code == "8":
            self._row, self._column = self._saved
        elif code == "M":
            if self._row == self._top:
                self._scroll_down(1)
            else:
                self._row = max(self._row - 1, 0)
        elif code in "DE":
            self._column = 0 if code == "E" else self._column
            self._down()

    def _down(self) -> None:
        if self._row == self._bottom:
            self._scroll_up(1)
        else:
            self._row = min(self._row + 1, self.rows - 1)

    def _scroll_up(self, count: int) -> None:
        for _ in range(count):
            gone = self._grid.pop(self._top)
            if self._top == 0 and self._other is None:
                self.history.append("".join(gone).rstrip())
            self._grid.insert(self._bottom, [" "] * self.columns)

    def _scroll_down(self, count: int) -> None:
        for _ in range(count):
            self._grid.pop(self._bottom)
            self._grid.insert(self._top, [" "] * self.columns)

    def _sequence(self, marks: str, numbers: list[int], final: str) -> None:
        first, count = numbers[0], max(numbers[0], 1)
        if marks == "?" and final in "hl":
            self._mode(numbers, final == "h")
        elif final == "n" and first == 6:
            self._answer(f"\x1b[{self._row + 1};{self._column + 1}R".encode())
        elif final == "c" and marks in ("", ">"):
            self._answer(b"\x1b[?62;c" if not marks else b"\x1b[>0;0;0c")
        elif final == "u" and marks == "?":
            self._answer(b"\x1b[?0u")
        elif not marks:
            self._move(numbers, count, final)
            self._edit(first, count, final)

    def _mode(self, numbers: list[int], on: bool) -> None:
        if not {47, 1047, 1049} & set(numbers) or on == (self._other is not None):
            return
        if on:
            self._saved, self._other, self._grid = (self._row, self._column), self._grid, self._blank()
        else:
            assert self._other is not None
            (self._row, self._column), self._grid, self._other = self._saved, self._other, None

    def _move(self, numbers: list[int], count: int, final: str) -> None:
        second = max(numbers[1], 1) if len(numbers) > 1 else 1
        match final:
            case "A":
                self._row -= count
            case "B" | "e":
                self._row += count
            case "C" | "a":
                self._column += count
            case "D":
                self._column -= count
            case "E" | "F":
                self._row, self._column = self._row + (count if final == "E" else -count), 0
            case "G" | "`":
                self._column = count - 1
            case "d":
                self._row = count - 1
            case "H" | "f":
                self._row, self._column = count - 1, second - 1
            case "s":
                self._saved = self._row, self._column
            case "u":
                self._row, self._column = self._saved
            case "r":
                bottom = numbers[1] if len(numbers) > 1 and numbers[1] else self.rows
                self._top, self._bottom = count - 1, min(bottom, self.rows) - 1
                self._row = self._column = 0
        self._row = min(max(self._row, 0), self.rows - 1)
        self._column = min(max(self._column, 0), self.columns - 1 if final != "C" else self.columns)

    def _edit(self, first: int, count: int, final: str) -> None:
        row = self._grid[self._row]
        match final:
            case "J" if first == 3:
                self.history.clear()
            case "J":
                self._erase_rows(first)
            case "K":
                start = 0 if first else self._column
                end = self._column + 1 if first == 1 else self.columns
                row[start:end] = [" "] * (end - start)
            case "L" | "M" if self._top <= self._row <= self._bottom:
                for _ in range(count):
                    self._grid.pop(self._bottom if final == "L" else self._row)
                    self._grid.insert(self._row if final == "L" else self._bottom, [" "] * self.columns)
            case "P":
                del row[self._column : self._column + count]
                row += [" "] * (self.columns - len(row))
            case "@":
                row[self._column : self._column] = [" "] * count
                del row[self.columns :]
            case "X":
                end = min(self._column + count, self.columns)
                row[self._column : end] = [" "] * (end - self._column)
            case "S":
                self._scroll_up(count)
            case "T":
                self._scroll_down(count)

    def _erase_rows(self, which: int) -> None:
        if which == 0:
            self._grid[self._row][self._column :] = [" "] * (self.columns - self._column)
            gone = range(self._row + 1, self.rows)
        elif which == 1:
            self._grid[self._row][: self._column + 1] = [" "] * (self._column + 1)
            gone = range(self._row)
        else:
            gone = range(self.rows)
        for number in gone:
            self._grid[number] = [" "] * self.columns
