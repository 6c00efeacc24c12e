package dev.parley.protocol;

/// Identifies one thought, streamed in one or more pieces.
public record ThoughtId(String value) implements Id {

  public ThoughtId {
    Id.check("thoughtId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
