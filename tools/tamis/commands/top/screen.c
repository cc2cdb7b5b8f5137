/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen.c: the live view of `tamis top`, by ncurses.
 *
 *     tamis top /var/lib/tamis  13:45:01Z  every 1 s  sorted by new
 *     2 filters, 123,456 items, 1,234 new/s, 1.5 MiB
 *     NAME  KIND ...                                      the columns that there is room for
 *     seen  blocked ...                                   one row is selected
 *     s sort  r turn  Enter segments  / pattern  q quit   or a message, or what is typed
 *
 * ncurses gives the terminal back at a stop (Ctrl-Z) and knows of a new size; SIGINT and SIGTERM
 * end the view as q does (interrupt.h).  The catalog's lock is never waited for: what finds it
 * taken says so in the last line.
 */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <term.h>
#include <unistd.h>

/* curses.h has names of this kind as macros. */
#undef lines
#undef columns

#include "figures.h"
#include "paint.h"

#define HEAD_LINES 3 /* title, summary, names of the columns */
#define FOOT_LINES 1
#define SPACE 2 /* between columns */
#define INPUT_BYTES TAMIS_NAME_MAX
#define INTERVAL_LEAST_NS INT64_C(125000000)
#define INTERVAL_MOST_NS INT64_C(64000000000)
#define READS_IN_VAIN_MAX 16 /* the terminal is gone: it is ready, and there is nothing to read */
#define KEY_ESCAPE 27

struct view {
    struct figures *figures;
    char *store;
    int64_t interval_ns;
    double next;                   /* progress_clock() of the next look */
    size_t selected, first;        /* of the rows: the selected one, and the first that is seen */
    char name[TAMIS_NAME_MAX + 1]; /* of the selected row */
    char *message;                 /* NULL: the keys are shown in its place */
    bool asks;                     /* for a pattern, which is in `input` */
    char input[INPUT_BYTES + 1];
    bool helps, paints, is_utf8;
    unsigned reads_in_vain;
};

/* ---- Text ------------------------------------------------------------------------------------ */

/* Prints as much of the text as fits into `width` columns from x on, and nothing outside of the
 * window. */
static void put_clipped(const struct view *view, int y, int x, size_t width, const char *text)
{
    int rows, columns;
    getmaxyx(stdscr, rows, columns);
    if (y < 0 || y >= rows || x < 0 || x >= columns) return;
    if (width > (size_t)(columns - x)) width = (size_t)(columns - x);
    char *shown = cli_copy(text, text_bytes(text, width));
    for (char *at = shown; !view->is_utf8 && *at; at++)
        if ((unsigned char)*at >= 0x80) *at = '?';
    (void)mvaddstr(y, x, shown);
    free(shown);
}

static void put_line(const struct view *view, int y, const char *text)
{
    put_clipped(view, y, 0, SIZE_MAX, text);
}

__attribute__((format(printf, 2, 3))) static void set_message(struct view *view, const char *format,
                                                              ...)
{
    va_list args;
    va_start(args, format);
    char *line = cli_vformat(format, args);
    va_end(args);
    free(view->message);
    view->message = text_printable(line);
    free(line);
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* What --sort sorts by in each column; below 0: nothing. */
static const int KEYS[FIGURES_COLUMNS] = {
    [FIGURES_NAME] = ORDER_NAME,         [FIGURES_KIND] = ORDER_KIND,
    [FIGURES_CAPACITY] = ORDER_CAPACITY, [FIGURES_ITEMS] = ORDER_ITEMS,
    [FIGURES_USED] = ORDER_USED,         [FIGURES_NEW] = TOP_NEW,
    [FIGURES_FULL_IN] = TOP_FULL_IN,     [FIGURES_RATE] = ORDER_RATE,
    [FIGURES_ASKED] = ORDER_ASKED,       [FIGURES_SIZE] = ORDER_SIZE,
    [FIGURES_STATE] = ORDER_STATE,
};

/* Which columns go first where there is no room for all.  The name stays, and is cut before any
 * column goes, down to NAME_WIDTH_MIN.  On 80 columns all that changes has room, and the state. */
static const enum figures_column DISPENSABLE[] = {
    FIGURES_SIZE, FIGURES_KIND,    FIGURES_CAPACITY, FIGURES_ASKED, FIGURES_USED,
    FIGURES_RATE, FIGURES_FULL_IN, FIGURES_ITEMS,    FIGURES_NEW,   FIGURES_STATE};
#define NAME_WIDTH_MIN ((size_t)16)

static void choose_columns(struct table *table, size_t room, bool is_shown[FIGURES_COLUMNS])
{
    size_t width = 0, *name = &table->widths[FIGURES_NAME];
    for (int i = 0; i < FIGURES_COLUMNS; i++) {
        is_shown[i] = true;
        width += table->widths[i] + (i > 0 ? SPACE : 0);
    }
    if (width > room && *name > NAME_WIDTH_MIN) {
        const size_t most = *name - NAME_WIDTH_MIN, cut = width - room < most ? width - room : most;
        *name -= cut;
        width -= cut;
    }
    for (size_t i = 0; width > room && i < sizeof DISPENSABLE / sizeof *DISPENSABLE; i++) {
        is_shown[DISPENSABLE[i]] = false;
        width -= table->widths[DISPENSABLE[i]] + SPACE;
    }
}

static attr_t attribute_of_state(const struct view *view, const struct figures_row *row)
{
    return view->paints ? COLOR_PAIR(1 + (int)paint_level_of(row->stat.state)) : A_NORMAL;
}

/* Puts row `row` of the table (0: the names of the columns) on line y. */
static void put_row(const struct view *view, const struct table *table, size_t row, int y,
                    const bool is_shown[FIGURES_COLUMNS], attr_t state)
{
    size_t x = 0;
    for (size_t i = 0; i < FIGURES_COLUMNS; i++) {
        const char *cell = table->cells[row * FIGURES_COLUMNS + i];
        const size_t width = table->widths[i];
        if (!is_shown[i]) continue;
        const size_t left = table->align[i] == 'r' ? width - text_width(cell) : 0;
        if (i == FIGURES_STATE) (void)attron(state);
        put_clipped(view, y, (int)(x + left), i == FIGURES_STATE ? SIZE_MAX : width, cell);
        if (i == FIGURES_STATE) (void)attroff(state);
        x += width + SPACE;
    }
}

/* ---- The screen ------------------------------------------------------------------------------ */

static size_t rows_that_fit(void)
{
    const int rows = getmaxy(stdscr) - HEAD_LINES - FOOT_LINES;
    return rows > 0 ? (size_t)rows : 0;
}

/* The selected row stays the one of that name, and is seen. */
static void follow_selected(struct view *view)
{
    const struct figures_rows *rows = &view->figures->now;
    const size_t fit = rows_that_fit();
    for (size_t i = 0; view->name[0] && i < rows->count; i++)
        if (strcmp(rows->all[i].stat.name, view->name) == 0) view->selected = i;
    if (view->selected >= rows->count) view->selected = rows->count > 0 ? rows->count - 1 : 0;
    if (view->first > view->selected) view->first = view->selected;
    if (fit > 0 && view->selected >= view->first + fit) view->first = view->selected - fit + 1;
    if (view->first + fit > rows->count) view->first = rows->count > fit ? rows->count - fit : 0;
}

static void select_row(struct view *view, size_t row)
{
    const struct figures_rows *rows = &view->figures->now;
    if (rows->count == 0) return;
    view->selected = row < rows->count ? row : rows->count - 1;
    (void)strcpy(view->name, rows->all[view->selected].stat.name);
}

static void draw_rows(const struct view *view)
{
    const struct figures *figures = view->figures;
    struct table table;
    bool is_shown[FIGURES_COLUMNS];
    size_t end = view->first + rows_that_fit();
    if (end > figures->now.count) end = figures->now.count;
    table_init(&table, FIGURES_ALIGN, FIGURES_HEADER);
    for (size_t i = view->first; i < end; i++)
        figures_cells(figures, &figures->now.all[i], false, &table);
    choose_columns(&table, (size_t)getmaxx(stdscr), is_shown);
    (void)attron(A_BOLD);
    put_row(view, &table, 0, HEAD_LINES - 1, is_shown, A_NORMAL);
    (void)attroff(A_BOLD);
    for (size_t i = view->first; i < end; i++) {
        const int y = HEAD_LINES + (int)(i - view->first);
        put_row(view, &table, i - view->first + 1, y, is_shown,
                attribute_of_state(view, &figures->now.all[i]));
        if (i == view->selected) (void)mvchgat(y, 0, -1, A_REVERSE, 0, NULL);
    }
    table_clear(&table);
}

static const char *name_of_order(const struct figures *figures)
{
    for (int i = 0; i < FIGURES_COLUMNS; i++)
        if (KEYS[i] == figures->key) return FIGURES_HEADER[i];
    return "BITS";
}

static void draw_head(const struct view *view)
{
    const struct figures *figures = view->figures;
    char time[32], interval[32];
    char *summary = figures_summary(figures);
    text_time(time, sizeof time, figures->looked_at);
    (void)snprintf(interval, sizeof interval, "%g s", (double)view->interval_ns / 1e9);
    char *title = cli_format(
        "tamis top %s%s%s%s%s  %s  every %s  by %s%s", view->store,
        figures->filter != NULL ? "  segments of " : "",
        figures->filter != NULL ? figures->filter_name : "", figures->pattern != NULL ? "  " : "",
        figures->pattern != NULL && figures->filter == NULL ? figures->pattern : "", time, interval,
        name_of_order(figures), figures->reverse ? ", turned" : "");
    char *shown = text_printable(title);
    put_line(view, 0, shown);
    put_line(view, 1, summary);
    free(shown);
    free(title);
    free(summary);
}

static void draw_foot(const struct view *view)
{
    const int y = getmaxy(stdscr) - 1;
    if (view->asks) {
        put_line(view, y, "pattern: ");
        put_clipped(view, y, 9, SIZE_MAX, view->input);
    } else if (view->message != NULL) {
        put_line(view, y, view->message);
    } else if (view->figures->filter != NULL) {
        put_line(view, y, "q quit  s S sort  r turn  Esc back  m numbers  + - pace  h help");
    } else {
        put_line(
            view, y,
            "q quit  s S sort  r turn  Enter segments  / pattern  m numbers  + - pace  h help");
    }
}

static void draw_help(const struct view *view)
{
    static const char *const text[] = {
        "q           quit",
        "s  S        sort by the next column, by the one before",
        "r           turn the order round",
        "up  down    select a row; page up, page down, home and end too",
        "Enter       show the segments of the selected filter",
        "Esc         go back to the filters; show all of them",
        "/           show only filters of a pattern, such as crawl.*",
        "m           large numbers as 12.3k, 1.23M, or in full",
        "+  -        look half or twice as often",
        "Space       look at once",
        "",
        "NEW/S       keys that were new, in a second since the last look",
        "USED        items as a share of the capacity",
        "FULL-IN     when the capacity is reached at this speed",
        "RATE-NOW    rate of false positives by the formulas, for so many items",
        "ASKED       the rate that the filter was made for",
    };
    const int last = getmaxy(stdscr) - 1;
    for (int i = 0; i < last && i < (int)(sizeof text / sizeof *text); i++)
        put_line(view, i, text[i]);
    put_line(view, last, "any key goes on");
}

static void draw(struct view *view)
{
    (void)erase();
    follow_selected(view);
    if (view->helps) {
        draw_help(view);
    } else {
        draw_head(view);
        draw_rows(view);
        draw_foot(view);
    }
    (void)refresh();
}

/* ---- Looks ----------------------------------------------------------------------------------- */

static void read_figures(struct view *view)
{
    struct figures *figures = view->figures;
    view->next = progress_clock() + (double)view->interval_ns / 1e9;
    int rc = figures_look(figures);
    if (rc < 0) set_message(view, "%s", tamis_last_error());
    if (rc == TAMIS_EDROPPED && figures->filter != NULL) {
        rc = figures_enter(figures, NULL);
        if (rc == 0) (void)figures_look(figures);
    }
}

static void enter(struct view *view, const char *filter_name)
{
    if (figures_enter(view->figures, filter_name) < 0) {
        set_message(view, "%s", tamis_last_error());
        return;
    }
    view->selected = view->first = 0;
    view->name[0] = '\0';
    read_figures(view);
}

static void take_pattern(struct view *view, const char *pattern)
{
    figures_set_pattern(view->figures, pattern);
    read_figures(view);
}

/* Sorts by the next column in this direction that can be sorted by. */
static void sort_by_next(struct view *view, int step)
{
    struct figures *figures = view->figures;
    int column = 0;
    while (column < FIGURES_COLUMNS && KEYS[column] != figures->key)
        column++;
    do
        column = (column + step + FIGURES_COLUMNS) % FIGURES_COLUMNS;
    while (KEYS[column] < 0);
    figures->key = KEYS[column];
    figures_sort(figures);
}

static void change_interval(struct view *view, bool longer)
{
    const int64_t ns = longer ? view->interval_ns * 2 : view->interval_ns / 2;
    if (ns < INTERVAL_LEAST_NS || ns > INTERVAL_MOST_NS) return;
    view->interval_ns = ns;
    view->next = progress_clock() + (double)ns / 1e9;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void go_back(struct view *view)
{
    if (view->figures->filter != NULL)
        enter(view, NULL);
    else if (view->figures->pattern != NULL)
        take_pattern(view, NULL);
}

static void take_typed(struct view *view, int key)
{
    const size_t bytes = strlen(view->input);
    if (key == KEY_ESCAPE) {
        view->asks = false;
    } else if (key == '\n' || key == '\r' || key == KEY_ENTER) {
        view->asks = false;
        take_pattern(view, view->input);
    } else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
        size_t end = bytes;
        while (end > 0 && ((unsigned char)view->input[--end] & 0xc0) == 0x80)
            continue;
        view->input[end] = '\0';
    } else if (key >= ' ' && key < 256 && bytes < INPUT_BYTES) {
        view->input[bytes] = (char)key;
        view->input[bytes + 1] = '\0';
    }
}

/* Moves the selection.  Returns false if the key does not move it. */
static bool move_selected(struct view *view, int key)
{
    const size_t page = rows_that_fit() > 1 ? rows_that_fit() - 1 : 1, at = view->selected;
    switch (key) {
    case KEY_UP:
        select_row(view, at > 0 ? at - 1 : 0);
        return true;
    case KEY_DOWN:
        select_row(view, at + 1);
        return true;
    case KEY_PPAGE:
        select_row(view, at > page ? at - page : 0);
        return true;
    case KEY_NPAGE:
        select_row(view, at + page);
        return true;
    case KEY_HOME:
        select_row(view, 0);
        return true;
    case KEY_END:
        select_row(view, SIZE_MAX);
        return true;
    default:
        return false;
    }
}

static void ask_pattern(struct view *view)
{
    const char *pattern = view->figures->pattern;
    if (view->figures->filter != NULL) return;
    view->asks = true;
    (void)snprintf(view->input, sizeof view->input, "%s", pattern != NULL ? pattern : "");
}

/* What a key does that changes what is shown, or how. */
static void take_command(struct view *view, int key)
{
    struct figures *figures = view->figures;
    switch (key) {
    case 's':
        sort_by_next(view, 1);
        break;
    case 'S':
        sort_by_next(view, -1);
        break;
    case 'r':
        figures->reverse = !figures->reverse;
        figures_sort(figures);
        break;
    case 'm':
        figures->human = !figures->human;
        break;
    case '+':
    case '-':
        change_interval(view, key == '-');
        break;
    case ' ':
        read_figures(view);
        break;
    case '/':
        ask_pattern(view);
        break;
    case '\n':
    case '\r':
    case KEY_ENTER:
        if (figures->filter == NULL && figures->now.count > 0)
            enter(view, figures->now.all[view->selected].stat.name);
        break;
    case KEY_ESCAPE:
        go_back(view);
        break;
    case 'h':
    case '?':
        view->helps = true;
        break;
    default:
        break;
    }
}

/* Does what a key asks for.  Returns false if the user wants to end. */
static bool take_key(struct view *view, int key)
{
    if (key == KEY_RESIZE) return true; /* it is drawn again in any case */
    if (view->helps) {
        view->helps = false;
        return true;
    }
    if (view->asks) {
        take_typed(view, key);
        return true;
    }
    if (key == 'q' || key == 'Q') return false;
    free(view->message);
    view->message = NULL;
    if (!move_selected(view, key)) take_command(view, key);
    return true;
}

/* ---- The view -------------------------------------------------------------------------------- */

/* Takes the keys that were typed.  Returns false if the view is to end. */
static bool take_keys(struct view *view, bool is_ready)
{
    bool took = false;
    for (int key = getch(); key != ERR; key = getch()) {
        took = true;
        if (!take_key(view, key)) return false;
    }
    view->reads_in_vain = is_ready && !took ? view->reads_in_vain + 1 : 0;
    return view->reads_in_vain < READS_IN_VAIN_MAX;
}

static void show_until_enough(struct view *view)
{
    for (;;) {
        draw(view);
        const double left = view->next - progress_clock();
        const bool is_ready =
            interrupt_wait_ns(STDIN_FILENO, POLLIN, left > 0 ? (int64_t)(left * 1e9) : 0);
        if (interrupt_signal() != 0 || !take_keys(view, is_ready)) return;
        if (progress_clock() >= view->next) read_figures(view);
    }
}

static void begin_colors(struct view *view)
{
    static const short colors[] = {
        [PAINT_GOOD] = COLOR_GREEN, [PAINT_FULL] = COLOR_YELLOW, [PAINT_BAD] = COLOR_RED};
    view->paints = paint_is_wanted(&view->figures->call->options) && has_colors();
    if (!view->paints) return;
    (void)start_color();
    const short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
    for (int i = PAINT_GOOD; i <= PAINT_BAD; i++)
        (void)init_pair((short)(1 + i), colors[i], background);
}

/* Can the terminal show text at any place? */
static bool is_terminal_able(void)
{
    int error;
    if (setupterm(NULL, STDOUT_FILENO, &error) != OK) return false;
    char name[] = "cup";
    const char *moves = tigetstr(name);
    const bool is_able = moves != NULL && moves != (const char *)-1;
    (void)del_curterm(cur_term); /* newterm() has one of its own */
    return is_able;
}

int screen_run(struct figures *figures, int64_t interval_ns)
{
    struct view view = {.figures = figures, .interval_ns = interval_ns};
    (void)setlocale(LC_CTYPE, "");
    view.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (!is_terminal_able()) return -1;
    if (figures_look(figures) < 0) return cli_fail_library();
    view.next = progress_clock() + (double)interval_ns / 1e9;
    view.store = cli_store_path(figures->call);
    if (view.store == NULL || tamis_store_set_busy_timeout(figures->call->store, 0) < 0)
        return CLI_ERROR;
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (screen == NULL) return -1;
    (void)cbreak();
    (void)noecho();
    (void)curs_set(0);
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(25);
    begin_colors(&view);
    show_until_enough(&view);
    (void)endwin();
    delscreen(screen);
    free(view.store);
    free(view.message);
    return interrupt_signal() ? 128 + interrupt_signal() : CLI_DONE;
}
