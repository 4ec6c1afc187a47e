package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/waybookctl/atomicfile"
)

const usage = `usage: moveread [flags] mysql|postgres|sqlite QUERIES FILE

Runs the statements of the file QUERIES on the database that the environment variable OLD_DATABASE names, and writes
their rows to FILE, which only you can read. FILE appears only when complete.

flags:
`

// run reads the command line and the database, and returns the exit status.
func run(ctx context.Context) int {
	var options movefile.RowOptions
	flag.BoolVar(&options.HasEntities, "entities", false, "replace entities of HTML, such as &amp;, by their characters")
	flag.BoolVar(&options.HasBig5, "big5", false, "look for Big5 also in columns of Latin-1")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 3 {
		flag.Usage()
		return 2
	}
	if err := read(ctx, flag.Arg(0), os.Getenv("OLD_DATABASE"), flag.Arg(1), flag.Arg(2), options, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "moveread:", err)
		return 1
	}
	return 0
}

// drivers are the drivers by the names of the databases, with what keeps all statements in one moment.
var drivers = map[string]struct {
	name string
	in   *sql.TxOptions
}{
	"mysql":    {"mysql", &sql.TxOptions{Isolation: sql.LevelRepeatableRead}},
	"postgres": {"pgx", &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}},
	"sqlite":   {"sqlite", nil},
}

// read writes the rows of all statements to a file, and a report to out.
func read(ctx context.Context, kind, source, queries, file string, options movefile.RowOptions, out io.Writer) (err error) {
	driver, isKnown := drivers[kind]
	if !isKnown || source == "" {
		return errors.New("want mysql, postgres or sqlite, and the address of the database in OLD_DATABASE")
	}
	text, err := os.ReadFile(queries)
	if err != nil {
		return err
	}
	database, err := sql.Open(driver.name, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	tx, err := database.BeginTx(ctx, driver.in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	return atomicfile.Write(file, 0o600, func(to io.Writer) error {
		rows := movefile.NewRowWriter(to, options)
		for n, statement := range statements(string(text)) {
			if err := copyRows(ctx, tx, statement, rows); err != nil {
				return fmt.Errorf("statement %d, %.60q: %w", n+1, statement, err)
			}
		}
		counts, err := rows.End()
		if err != nil {
			return err
		}
		for _, kind := range movefile.Kinds() {
			if counts[kind] > 0 {
				fmt.Fprintf(out, "%10d  %s\n", counts[kind], kind)
			}
		}
		for _, repair := range movefile.Repairs() {
			if count := rows.Repairs[repair]; count > 0 {
				fmt.Fprintf(out, "%10d  repaired: %s\n", count, repair)
			}
		}
		return nil
	})
}

// statements returns the statements of a text. Each ends with a semicolon at the end of a line. Lines that begin with --
// are comments.
func statements(text string) (all []string) {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n \t")
		if strings.HasPrefix(line, "--") {
			continue
		}
		end, isLast := strings.CutSuffix(line, ";")
		lines = append(lines, end)
		if isLast {
			all, lines = append(all, strings.Join(lines, "\n")), nil
		}
	}
	if rest := strings.TrimSpace(strings.Join(lines, "\n")); rest != "" {
		all = append(all, rest)
	}
	return all
}

// copyRows writes the rows of a statement.
func copyRows(ctx context.Context, tx *sql.Tx, statement string, to *movefile.RowWriter) (err error) {
	rows, err := tx.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	row, values := make([]movefile.Column, len(types)), make([]any, len(types))
	for n, each := range types {
		row[n] = movefile.Column{Name: each.Name(), HasZone: each.DatabaseTypeName() == "TIMESTAMPTZ"}
		values[n] = &row[n].Value
	}
	for count := 1; rows.Next(); count++ {
		if err := rows.Scan(values...); err != nil {
			return err
		}
		if err := to.Write(row); err != nil {
			return fmt.Errorf("row %d: %w", count, err)
		}
	}
	return rows.Err()
}
