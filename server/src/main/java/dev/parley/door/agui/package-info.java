/// The AG-UI door: runs, threads, interrupts and the events of the Agent-User Interaction protocol.
@NullMarked
package dev.parley.door.agui;

import org.jspecify.annotations.NullMarked;
