// A floor at z = 0.12 m that pushes the hand out, until Ctrl-C. See README.md in this folder for how to compile it.
#include <algorithm>
#include <iostream>

#include "hapticd.hpp"

int main(int count, char** words) try {
    const hapticd::StopOnSignals stop;                          // Ctrl-C ends the loop, not the process
    auto service = hapticd::connect(count > 1 ? words[1] : "");  // leaving the scope, however, means zero force
    auto& arm = service.arm();                                  // the only one
    for (auto turn : service.loop(1000)) {                      // paces, never queues late turns
        const double depth = 0.12 - arm.position()[2];          // m
        arm.set_force({0, 0, std::max(0.0, 500 * depth)});      // N
    }
    std::cout << service.loop_statistics() << '\n';
} catch (const hapticd::HapticsError& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
