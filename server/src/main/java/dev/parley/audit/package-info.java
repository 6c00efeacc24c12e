/// The audit trail: who did what, from where, to what, with which result.
@NullMarked
package dev.parley.audit;

import org.jspecify.annotations.NullMarked;
