/**
 * Programs to compare the admin with, made with the same drawing library: `empty` shows one line and does nothing; `list`
 * moves through 1,000 rows like those of the admin, drawn as the library does it by default. `q` ends them.
 */
import { Box, render, Text, useApp, useInput, useWindowSize } from "ink";
import { useState } from "react";

const [kind = "empty"] = Deno.args;
const ROWS = Array.from(
  { length: 1_000 },
  (_, at) =>
    `pod ${at}`.padEnd(20) + "○ Stopped 10 days    $0.00/hr   All members     RTX A4000 x1     Sat 5 Dec 18:00   $0.25",
);

function Empty() {
  const { exit } = useApp();
  useInput((key) => void (key === "q" && exit()));
  return <Text>the empty program is ready</Text>;
}

function List() {
  const { exit } = useApp();
  const { rows } = useWindowSize();
  const [at, setAt] = useState(0);
  useInput((key) => {
    if (key === "q") exit();
    if (key === "j") setAt((before) => Math.min(ROWS.length - 1, before + 1));
  });
  const height = rows - 2;
  const from = Math.max(0, at - height + 1);
  return (
    <Box flexDirection="column">
      <Text>the list is ready, at {at}</Text>
      {ROWS.slice(from, from + height).map((text, row) => (
        <Text key={row} wrap="truncate" inverse={from + row === at}>{from + row === at ? "> " : "  "}{text}</Text>
      ))}
    </Box>
  );
}

await render(kind === "list" ? <List /> : <Empty />, { alternateScreen: true, interactive: true }).waitUntilExit();
