package main

import "strings"

// diff returns the lines that differ between two texts, each with a sign, in their order.
func diff(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")

	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}

	var out strings.Builder
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out.WriteString("  - " + a[i] + "\n")
			i++
		default:
			out.WriteString("  + " + b[j] + "\n")
			j++
		}
	}
	return out.String()
}
