// What a frame does with an instance: COMPUTED, with or without FRESH; or UPDATES_PREVIOUS; or nothing.

fn action_of(instance: u32) -> u32 {
    if dispatch.skips == 0u {
        return COMPUTED;
    }
    return state[1u + instance];
}
