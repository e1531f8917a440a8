"""What a kernel engineer asks before compiling: is the tile legal, how exact is it, and which one else?"""
