module edgeward-examples

go 1.21
