/// The API for what controls tasks: the status of the server, pauses, approval rules and budgets.
@NullMarked
package dev.parley.api.controls;

import org.jspecify.annotations.NullMarked;
