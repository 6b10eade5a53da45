// Asks YuniKorn's own validator about queue configurations: one on each line of the input, as JSON (which is YAML),
// and for each a line with its verdict: "ok", or what YuniKorn has against it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/apache/yunikorn-core/pkg/common/configs"
	"github.com/apache/yunikorn-core/pkg/log"
	"go.uber.org/zap"
)

const longestLine = 16 << 20

func verdict(document []byte) string {
	if _, err := configs.LoadSchedulerConfigFromByteArray(document); err != nil {
		return strings.Join(strings.Fields(err.Error()), " ")
	}
	return "ok"
}

func main() {
	// Its log would be mixed with the verdicts.
	log.InitializeLogger(zap.NewNop(), &zap.Config{Level: zap.NewAtomicLevelAt(zap.FatalLevel)})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		fmt.Println(verdict(lines.Bytes()))
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
