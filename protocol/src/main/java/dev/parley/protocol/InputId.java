package dev.parley.protocol;

/// Identifies one request for input.
public record InputId(String value) implements Id {

  public InputId {
    Id.check("inputId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
