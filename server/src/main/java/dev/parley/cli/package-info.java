/// Agents that are programs of their own: Claude Code, Codex, Gemini CLI, and others that print JSON lines.
@NullMarked
package dev.parley.cli;

import org.jspecify.annotations.NullMarked;
