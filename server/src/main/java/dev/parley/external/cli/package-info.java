/// Agents that run as separate programs: Claude Code, Codex, Gemini CLI, and any program that
/// prints JSON lines.
@NullMarked
package dev.parley.external.cli;

import org.jspecify.annotations.NullMarked;
