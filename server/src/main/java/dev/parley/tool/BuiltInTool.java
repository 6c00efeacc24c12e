package dev.parley.tool;

/// A built-in tool. Calls that change nothing may run in parallel.
abstract class BuiltInTool<A extends Record> implements TypedTool<A> {

  private final String name;
  private final Effect effect;
  private final Class<A> arguments;
  private final String description;

  BuiltInTool(String name, Effect effect, Class<A> arguments, String description) {
    this.name = name;
    this.effect = effect;
    this.arguments = arguments;
    this.description = description;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final String description() {
    return description;
  }

  @Override
  public final Class<A> arguments() {
    return arguments;
  }

  @Override
  public final Effect effect() {
    return effect;
  }

  @Override
  public boolean concurrent() {
    return effect == Effect.PURE;
  }
}
