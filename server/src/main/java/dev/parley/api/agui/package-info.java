/// The AG-UI API: runs, threads, interrupts and events of the Agent-User Interaction protocol.
@NullMarked
package dev.parley.api.agui;

import org.jspecify.annotations.NullMarked;
