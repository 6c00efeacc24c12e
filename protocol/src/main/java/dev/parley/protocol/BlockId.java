package dev.parley.protocol;

/// Identifies one block of streamed text.
public record BlockId(String value) implements Id {

  public BlockId {
    Id.check("blockId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
