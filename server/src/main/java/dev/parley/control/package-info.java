/// What operators and people decide about the tasks of others, and what tasks have used: pauses,
/// approval rules, budgets.
@NullMarked
package dev.parley.control;

import org.jspecify.annotations.NullMarked;
