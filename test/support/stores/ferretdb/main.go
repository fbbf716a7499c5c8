// Serves FerretDB, an independent server that speaks MongoDB's wire protocol, over a folder of SQLite files.
// The adapters for MongoDB are tested against it. usage: ferretdb 127.0.0.1:PORT FOLDER
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if len(os.Args) != 3 {
		slog.Error("usage: ferretdb 127.0.0.1:PORT FOLDER")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: os.Args[1]},
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Handler:   "sqlite",
		SQLiteURL: "file:" + os.Args[2] + "/",
	})
	if err != nil {
		slog.Error("can't serve", "error", err)
		os.Exit(1)
	}
	if err := server.Run(ctx); err != nil {
		slog.Error("stopped", "error", err)
		os.Exit(1)
	}
}
