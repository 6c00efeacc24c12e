package dev.parley.protocol;

/// Names one request for input.
public record InputId(String value) implements Id {

  public InputId {
    Id.check("inputId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
