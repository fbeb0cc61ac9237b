module gorge/bench/compare

go 1.18
