module tamis

go 1.24
