package dev.parley.audit;

import dev.parley.audit.AuditRecord.ChainPoint;
import java.util.Optional;

/// Verifies the records of an audit trail one after the other. For one thread.
public final class ChainVerifier {

  private ChainPoint last;
  private long count;
  private Optional<String> problem = Optional.empty();

  /// A verifier of the records after this point: the start, or the anchor of a trail whose oldest
  /// records were deleted because of their age.
  public ChainVerifier(ChainPoint anchor) {
    this.last = anchor;
  }

  /// Verifies the next record. False if it does not follow, and after that for all others.
  public boolean accept(AuditRecord next) {
    if (problem.isEmpty()) {
      var wrong = next.problemAfter(last);
      if (wrong.isEmpty()) {
        last = next.point();
        count++;
      } else {
        problem = Optional.of(wrong);
      }
    }
    return problem.isEmpty();
  }

  /// Verifies that the chain contains this point; call it when the chain has been verified so far.
  public boolean atEnd(ChainPoint expected) {
    if (problem.isEmpty() && !expected.equals(last)) {
      problem =
          Optional.of(
              last.number() < expected.number()
                  ? "records are missing after "
                      + last.number()
                      + ": the trail once ended with "
                      + expected.number()
                  : "record " + expected.number() + " was replaced");
    }
    return problem.isEmpty();
  }

  /// The last record that was verified.
  public ChainPoint last() {
    return last;
  }

  /// How many records were verified.
  public long count() {
    return count;
  }

  /// What is wrong; empty if nothing is.
  public Optional<String> problem() {
    return problem;
  }
}
