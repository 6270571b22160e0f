// Runs before the first paint, so that a chosen theme does not flash. It is a file because the page allows no inline script.
try {
  const theme = localStorage.getItem("probefleet.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is blocked: the system's theme is used.
}
